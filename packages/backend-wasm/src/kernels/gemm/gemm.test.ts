import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, test } from 'vitest';
import { checkGemm, type GemmCase } from '../../../../backend-cpu/test/op-memory.ts';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import type { WasmBuffer } from '../kernel.ts';
import { gemmKernel } from './gemm.ts';

/** One column of one product each, in float16. */
const COLUMN: Omit<ResolvedGemm<WasmBuffer>, 'm' | 'a' | 'b' | 'c'> = {
  ...{ n: 1, k: 1, transA: false, transB: false, alpha: 1, beta: 0, batchCount: 1, dtype: 'f16' as const },
  ...{ lda: 1, ldb: 1, ldc: 1, strideA: 0, strideB: 0, strideC: 0, operands: [], opName: 'gemm' as const },
};

for (const traits of TRAITS) {
  const launcher = new KernelLauncher(traits, 64);
  const kernel = gemmKernel(launcher, () => undefined);

  const check = (shape: GemmCase): Promise<void> =>
    checkGemm(launcher.operands, { alpha: 1, beta: 0, ...shape }, (call) => launcher.reset(() => kernel.run(call)));

  describe(`gemm ${traits.hasFma ? 'with' : 'without'} multiply-add`, () => {
    for (const dtype of ['f32', 'f16'] as const) {
      test(`gives the exact product of every transposition and remainder, ${dtype}`, async () => {
        for (const trans of ['NN', 'NT', 'TN', 'TT'] as const) {
          for (const m of [1, 2, 5, 6, 13]) {
            for (const n of [1, 3, 8, 17]) {
              for (const k of [1, 6, 21]) await check({ m, n, k, trans, dtype, pad: (m + n) % 3, offset: 1 });
            }
          }
          await check({ m: 9, n: 11, k: 13, trans, dtype, alpha: 2, beta: -3, pad: 1 });
          await check({ m: 1, n: 31, k: 13, trans, dtype, alpha: 0.5, beta: 1, pad: 2 });
          await check({ m: 31, n: 1, k: 13, trans, dtype, alpha: 0.5, beta: 1, pad: 2 });
        }
      });
    }

    test('crosses the borders of tiles and blocks, with B packed once or by each tile', async () => {
      for (const dtype of ['f32', 'f16'] as const) {
        const isHalf = dtype === 'f16';
        await check({ m: 97, n: 261, k: 257, dtype, trans: isHalf ? 'TN' : 'NN', beta: 1 });
        await check({ m: 95, n: 300, k: 513, dtype, trans: isHalf ? 'NN' : 'NT' });
        // Whole tiles, whose sums lie in C from the start; and the same where they must not.
        await check({ m: 12, n: 16, k: 300, dtype, pad: 1 });
        await check({ m: 12, n: 16, k: 300, dtype, pad: 1, alpha: 2 });
        await check({ m: 12, n: 16, k: 300, dtype, pad: 1, beta: 1 });
        for (const trans of ['NN', 'NT'] as const) await check({ m: 1, n: 9001, k: 45, trans, dtype });
        await check({ m: 67, n: 1, k: 2050, trans: isHalf ? 'NN' : 'TN', dtype, pad: 1 });
      }
    });

    test('goes through a batch, with one B for all or one each', async () => {
      for (const each of [{}, { shared: 'b' }] as const) {
        await check({ m: 20, n: 9, k: 30, batchCount: 3, ...each });
        await check({ m: 101, n: 19, k: 3, batchCount: 3, pad: 1, ...each });
        await check({ m: 1, n: 19, k: 30, batchCount: 5, ...each });
      }
    });

    test('gives beta C where there is nothing to sum', async () => {
      await check({ m: 7, n: 9, k: 0, beta: 2, pad: 1 });
      await check({ m: 1, n: 9, k: 0 });
    });

    test('spreads no infinity beyond its row and column', async () => {
      await check({
        m: 30,
        n: 30,
        k: 30,
        spoil: ({ a, b }) => {
          a.fill(1);
          b.fill(1);
          a[29 * 30] = Infinity;
          b[29] = Number.NaN;
        },
      });
    });

    test('reads and writes every float16', () => {
      const one = launcher.operand(Uint16Array.of(0x3c00));
      const all = launcher.operand(Uint16Array.from({ length: 65_536 }, (_, bits) => bits));
      const c = launcher.operand(new Uint16Array(65_536));
      launcher.reset(() => kernel.run({ ...COLUMN, m: 65_536, a: all, b: one, c }));
      const copied = new Uint16Array(launcher.bytes(c).slice().buffer);
      const isNaN16 = (bits: number) => (bits & 0x7fff) > 0x7c00;
      expect(copied.findIndex((bits, i) => (isNaN16(i) ? !isNaN16(bits) : bits !== i && i !== 0x8000))).toBe(-1);
    });

    test('rounds to float16 as the host does', () => {
      // A term of each magnitude of float16, beyond it, and halfway between neighbours.
      const odd = Uint16Array.from({ length: 30 * 64 }, (_, i) => ((i % 30) << 10) + ((i * 37) & 0x3ff));
      for (const factor of [1 + 2 ** -10, 0.5, 2 ** -9 + 2 ** -12, 1.5, 3]) {
        const half = f32ToF16Bits(factor);
        const [a, b, c] = [launcher.operand(odd), launcher.operand(Uint16Array.of(half)), launcher.operand(odd)];
        launcher.reset(() => kernel.run({ ...COLUMN, m: odd.length, a, b, c }));
        const want = Array.from(odd, (bits) => f32ToF16Bits(f16BitsToF32(bits) * f16BitsToF32(half)));
        expect(Array.from(new Uint16Array(launcher.bytes(c).slice().buffer)), `times ${factor}`).toEqual(want);
      }
    });
  });
}
