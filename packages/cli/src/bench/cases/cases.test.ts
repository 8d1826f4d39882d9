import { CpuBackend } from '@concord/backend-cpu';
import { download, NULL_PTR, upload } from '@concord/backend-core';
import { expect, test } from 'vitest';
import type { BenchCase } from '../bench-case.ts';
import { CHECKED_ENTRIES, findWrongEntry } from '../find-wrong-entry.ts';
import { BENCH_OPS } from '../bench-ops.ts';
import { selectBenchCases } from '../select-cases.ts';
import { attentionCase } from './attention.ts';
import { conv2dCase } from './conv2d.ts';
import { reduceCase } from './elementwise.ts';
import { softmaxCase, topKCase } from './kernels.ts';
import { batchedGemmCase, gemmCase } from './gemm.ts';

test.each(['small', 'real'] as const)('the %s ones have ids of their own, every op, and the smaller first', (size) => {
  const cases = selectBenchCases(size);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  expect(new Set(cases.map(({ op }) => op))).toEqual(new Set(BENCH_OPS));
  for (const { id, op, unit, flops, bytes } of cases) {
    expect(id.startsWith(`${op}/`)).toBe(true);
    expect(bytes).toBeGreaterThan(0);
    expect(unit === 'GB/s' || flops > 0, id).toBe(true);
  }
});

test('count what they say', () => {
  const of = ({ flops, bytes }: BenchCase): number[] => [flops, bytes];
  expect(of(gemmCase('', '', 2, 3, 5))).toEqual([60, 4 * (10 + 15 + 6)]);
  // 2x2 outputs of a 3x3 window on 5x5, stride 2.
  const layer = { channels: 3, size: 5, filters: 4, window: 3, stride: 2 };
  expect(of(conv2dCase('', '', layer))).toEqual([2 * 16 * 27, 4 * (75 + 108 + 16)]);
  const attention = { heads: 2, seqQ: 3, seqKv: 3, headDim: 4 };
  expect(of(attentionCase('', '', attention))).toEqual([4 * 2 * 9 * 4, 4 * 4 * 24]);
  expect(of(attentionCase('', '', { ...attention, causal: true }))[0]).toBe(4 * 2 * 6 * 4);
});

/** What the CPU backend computes. */
async function resultOf(benchCase: BenchCase): Promise<Float32Array> {
  const work = benchCase.prepare();
  const backend = new CpuBackend();
  await backend.init();
  try {
    const pointers = work.inputs.map(({ values, dtype }) => upload(backend, values, { dtype }));
    const { outputLength: length, outputDtype: dtype } = work;
    const output = length > 0 ? backend.alloc(length * (dtype === 'f16' ? 2 : 4)) : NULL_PTR;
    await work.call(backend, (index) => pointers[index] ?? NULL_PTR, output);
    return work.hostResult?.() ?? (await download(backend, output, length, { dtype }));
  } finally {
    await backend.dispose();
  }
}

const odd = [
  gemmCase('odd', '', 7, 9, 11),
  gemmCase('odd', '', 7, 9, 11, true),
  batchedGemmCase('odd', '', 3, { m: 5, n: 4, k: 6 }),
  conv2dCase('odd', '', { batch: 2, channels: 3, size: 9, filters: 4, window: 3, stride: 2, padding: 1 }),
  attentionCase('odd', '', { heads: 3, seqQ: 5, seqKv: 7, headDim: 6 }),
  attentionCase('odd', '', { heads: 2, seqQ: 5, seqKv: 5, headDim: 6, causal: true }),
  reduceCase('odd', '', 'sum', [3, 5, 7], 1),
  softmaxCase('odd', '', 5, 9),
  topKCase('odd', '', 5, 9, 3),
];

test.each([...selectBenchCases('small'), ...odd])(
  '$id: the oracle agrees with the CPU, entry by entry',
  async (one) => {
    const result = await resultOf(one);
    const { expected } = one.prepare();
    expect(findWrongEntry(result, expected)).toBeUndefined();
    for (let index = 0; index < Math.min(result.length, 300); index++) {
      const { want, tolerance } = expected(index);
      expect(Math.abs((result[index] as number) - want)).toBeLessThanOrEqual(tolerance);
      // So small that an entry of its neighbour's is found out.
      expect(tolerance).toBeLessThan(0.05 + 0.01 * Math.abs(want));
    }
  },
);

test('a wrong entry is found at both ends and where it repeats, NaN too', () => {
  const values = Float32Array.from({ length: 4096 }, (_, i) => i);
  const expected = (index: number): { want: number; tolerance: number } => ({ want: index, tolerance: 0.5 });
  const withEntry = (index: number, value: number): Float32Array => values.map((x, i) => (i === index ? value : x));
  expect(findWrongEntry(values, expected)).toBeUndefined();
  expect(findWrongEntry(withEntry(0, 9), expected)).toBe('entry 0 is 9, want 0');
  expect(findWrongEntry(withEntry(4095, Number.NaN), expected)).toBe('entry 4,095 is NaN, want 4095');
  // A column of 64 that is never written.
  expect(
    findWrongEntry(
      values.map((x, i) => (i % 64 === 17 ? -1 : x)),
      expected,
    ),
  ).toMatch(/is -1/);
  let asked = 0;
  findWrongEntry(values, (index) => (asked++, expected(index)));
  expect(asked).toBeGreaterThanOrEqual(CHECKED_ENTRIES - 1);
  expect(asked).toBeLessThan(2 * CHECKED_ENTRIES);
});
