import { type AttentionShape, f16BitsToF32, f32ToF16Bits, type HeadStrides } from '@concord/backend-core';
import { attentionReference } from '@concord/backend-cpu/reference';
import { describe, expect, test } from 'vitest';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import { attentionKernel } from './attention.ts';

interface Case extends Omit<AttentionShape, 'scale' | 'dtype'> {
  readonly mask?: { readonly strides: readonly [number, number, number, number] };
}

const CASES: Readonly<Record<string, Case>> = {
  'one query': { batch: 1, heads: 2, seqQ: 1, seqKv: 5, headDim: 3 },
  'one query, several blocks of keys': { batch: 2, heads: 4, kvHeads: 2, seqQ: 1, seqKv: 301, headDim: 19 },
  'one query, part of the keys': {
    ...{
      batch: 1,
      heads: 1,
      seqQ: 1,
      seqKv: 200,
      headDim: 5,
      causal: true,
      causalOffset: 170,
      window: 150,
      softcap: 2,
    },
    mask: { strides: [0, 0, 0, 1] },
  },
  'wide heads, in blocks of few keys': { batch: 1, heads: 1, seqQ: 9, seqKv: 21, headDim: 3001 },
  'several blocks': { batch: 1, heads: 1, seqQ: 101, seqKv: 261, headDim: 17 },
  'causal, grouped heads': {
    batch: 2,
    heads: 4,
    kvHeads: 2,
    seqQ: 9,
    seqKv: 11,
    headDim: 8,
    causal: true,
    causalOffset: 2,
  },
  'causal over several blocks': { batch: 1, heads: 1, seqQ: 200, seqKv: 200, headDim: 8, causal: true },
  'queries without keys': { batch: 1, heads: 1, seqQ: 7, seqKv: 5, headDim: 9, causal: true, causalOffset: -3 },
  window: { batch: 1, heads: 1, seqQ: 150, seqKv: 150, headDim: 4, window: 5, causalOffset: 1 },
  'far window': { batch: 1, heads: 1, seqQ: 3, seqKv: 4, headDim: 4, window: 2, causalOffset: -(2 ** 40) },
  softcap: { batch: 1, heads: 2, seqQ: 5, seqKv: 7, headDim: 8, softcap: 0.75 },
  mask: { batch: 1, heads: 2, seqQ: 6, seqKv: 139, headDim: 8, mask: { strides: [0, 834, 139, 1] } },
  'mask that repeats': { batch: 2, heads: 1, seqQ: 6, seqKv: 9, headDim: 8, mask: { strides: [6, 0, 1, 0] } },
};

for (const traits of TRAITS) {
  describe(`attention ${traits.hasFma ? 'with' : 'without'} multiply-add`, () => {
    const launcher = new KernelLauncher(traits);
    const kernel = attentionKernel(launcher);

    /** Runs a case on packed operands. */
    function attend(shape: Case, dtype: 'f32' | 'f16', change?: (v: Float32Array, mask: Float32Array) => void) {
      const { batch, heads, kvHeads = heads, seqQ, seqKv, headDim } = shape;
      const random = (length: number, seed: number) =>
        Float32Array.from({ length }, (_, i) => f16BitsToF32(f32ToF16Bits(Math.sin(i * 12.9898 + seed) * 2)));
      const queries = batch * heads * seqQ * headDim;
      const keys = batch * kvHeads * seqKv * headDim;
      const [q, k, v, mask] = [
        random(queries, 1),
        random(keys, 2),
        random(keys, 3),
        random(batch * heads * seqQ * seqKv, 4),
      ];
      change?.(v, mask);
      const scale = Math.fround(1 / Math.sqrt(headDim));
      const want = attentionReference({ ...shape, scale }, q, k, v, mask);
      const stored = (from: Float32Array) =>
        launcher.operand(dtype === 'f32' ? from : Uint16Array.from(from, f32ToF16Bits));
      const o = stored(new Float32Array(queries).fill(Number.NaN));
      const operands = { q: stored(q), k: stored(k), v: stored(v), mask: launcher.operand(mask), o };
      const packed = (count: number, rows: number): HeadStrides => [count * rows * headDim, rows * headDim, headDim];
      const [ofQueries, ofKeys] = [packed(heads, seqQ), packed(kvHeads, seqKv)];
      const strides = { qStrides: ofQueries, kStrides: ofKeys, vStrides: ofKeys, oStrides: ofQueries };
      const { softcap = 0, causal = false, causalOffset = 0, window = Infinity, mask: given } = shape;
      const fields = {
        batch,
        heads,
        kvHeads,
        seqQ,
        seqKv,
        headDim,
        scale,
        softcap,
        causal,
        causalOffset,
        window,
        dtype,
      };
      const call = {
        ...fields,
        ...strides,
        maskStrides: given?.strides,
        ...operands,
        operands: [],
        opName: 'attention' as const,
      };
      launcher.reset(() => kernel.run(call));
      const bytes = launcher.bytes(o).slice().buffer;
      const got =
        dtype === 'f32'
          ? new Float32Array(bytes)
          : Float32Array.from(new Uint16Array(bytes), (half) => f16BitsToF32(half));
      return { got, want };
    }

    for (const dtype of ['f32', 'f16'] as const) {
      test.each(Object.keys(CASES))(`${dtype}: %s`, (name) => {
        const { got, want } = attend(CASES[name] as Case, dtype);
        // The larger the terms of a score, the more of it is lost.
        const grant = (dtype === 'f32' ? 4e-6 : 2e-3) * (1 + Math.max(...want.scoreMagnitude) / 4);
        expect(
          got.findIndex((value, i) => !(Math.abs(value - want.value[i]!) <= grant * (1 + want.magnitude[i]!))),
        ).toBe(-1);
      });
    }

    test('an infinite value reaches the queries that see it, and no others', () => {
      const shape = { batch: 1, heads: 1, seqQ: 8, seqKv: 8, headDim: 8, causal: true };
      const { got } = attend(shape, 'f32', (v) => v.fill(Infinity, 5 * 8, 6 * 8));
      expect(Array.from({ length: 8 }, (_, row) => got.subarray(row * 8, row * 8 + 8).every(Number.isFinite))).toEqual([
        true,
        true,
        true,
        true,
        true,
        false,
        false,
        false,
      ]);
    });

    test.each([1, 3])('a weight that hardly counts makes a large value count, %i queries', (seqQ) => {
      for (const far of [1, 299]) {
        const shape = {
          batch: 1,
          heads: 1,
          seqQ,
          seqKv: far + 1,
          headDim: 4,
          mask: { strides: [0, 0, 0, 1] },
        } as const;
        for (const [large, largest] of [
          [0, far],
          [far, 0],
        ] as const) {
          const { got, want } = attend(shape, 'f32', (v, mask) => {
            mask.fill(-1000, 0, far + 1);
            mask[large] = -86.5;
            mask[largest] = 0;
            v.fill(3e38, 4 * large, 4 * large + 4);
          });
          for (const [i, value] of got.entries()) {
            const wanted = want.value[i] as number;
            expect(Math.abs(value - wanted)).toBeLessThan(1e-3 * Math.abs(wanted));
          }
        }
      }
    });

    test('a mask of -Infinity hides a key, and all keys of a query', () => {
      const shape = { batch: 1, heads: 1, seqQ: 2, seqKv: 5, headDim: 4, mask: { strides: [0, 0, 5, 1] } } as const;
      const { got, want } = attend(shape, 'f32', (_v, mask) => {
        mask[1] = -Infinity;
        mask.fill(-Infinity, 5, 10);
      });
      expect([...got.subarray(4)]).toEqual([0, 0, 0, 0]);
      for (let d = 0; d < 4; d++) expect(got[d]).toBeCloseTo(want.value[d] as number, 5);
    });
  });
}
