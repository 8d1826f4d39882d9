import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { ResolvedGemm } from '@concord/backend-core/implement';
import { describe, expect, test } from 'vitest';
import { KernelLauncher, TRAITS } from '../../../test/support/kernel-launcher.ts';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import { gemmKernel } from './gemm.ts';

interface Shape {
  m: number;
  n: number;
  k: number;
  transA?: boolean;
  transB?: boolean;
  alpha?: number;
  beta?: number;
  batchCount?: number;
  /** One B for the whole batch. */
  isOneB?: boolean;
  pad?: number;
  half?: boolean;
}

type Stored = Float32Array | Uint16Array;

/** Small integers, so that every order of summation gives the same bits. */
function integers(length: number, seed: number, half: boolean): Stored {
  const values = Float32Array.from({ length }, (_, i) => ((i * 7919 + seed * 104_729) % 15) - 7);
  return half ? Uint16Array.from(values, (value) => f32ToF16Bits(value)) : values;
}

const floatsOf = (stored: Stored): number[] =>
  stored instanceof Uint16Array ? Array.from(stored, (bits) => f16BitsToF32(bits)) : Array.from(stored);

/** One column of one product each, in float16. */
const COLUMN: Omit<ResolvedGemm<WasmBuffer>, 'm' | 'a' | 'b' | 'c'> = {
  ...{ n: 1, k: 1, transA: false, transB: false, alpha: 1, beta: 0, batchCount: 1, dtype: 'f16' as const },
  ...{ lda: 1, ldb: 1, ldc: 1, strideA: 0, strideB: 0, strideC: 0, operands: [], opName: 'gemm' as const },
};

for (const traits of TRAITS) {
  const launcher = new KernelLauncher(traits, 64);
  const kernel = gemmKernel(launcher);

  /** Runs a product and returns C, with the expected values. */
  function product(shape: Shape, fill?: (a: Stored, b: Stored) => void): { got: number[]; want: number[] } {
    const {
      m,
      n,
      k,
      transA = false,
      transB = false,
      alpha = 1,
      beta = 0,
      batchCount = 1,
      pad = 0,
      half = false,
    } = shape;
    const [lda, ldb, ldc] = [(transA ? m : k) + pad, (transB ? k : n) + pad, n + pad];
    const strideA = (transA ? k : m) * lda;
    const strideB = shape.isOneB === true ? 0 : (transB ? n : k) * ldb;
    const strideC = m * ldc;
    const a = integers(strideA * batchCount, 1, half);
    const b = integers((transB ? n : k) * ldb + strideB * (batchCount - 1), 2, half);
    const c = integers(strideC * batchCount, 3, half);
    fill?.(a, b);
    if (beta === 0) c.fill(half ? 0x7e00 : Number.NaN);
    const [x, y] = [floatsOf(a), floatsOf(b)];
    const want = floatsOf(c);
    for (let t = 0; t < batchCount; t++) {
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let p = 0; p < k; p++) {
            const factor = x[t * strideA + (transA ? p * lda + i : i * lda + p)] as number;
            sum += factor * (y[t * strideB + (transB ? j * ldb + p : p * ldb + j)] as number);
          }
          const at = t * strideC + i * ldc + j;
          const exact = alpha * sum + (beta === 0 ? 0 : beta * (want[at] as number));
          want[at] = half ? f16BitsToF32(f32ToF16Bits(exact)) : Math.fround(exact);
        }
      }
    }
    const dtype = half ? ('f16' as const) : ('f32' as const);
    const operands = { a: launcher.operand(a), b: launcher.operand(b), c: launcher.operand(c) };
    const layout = { lda, ldb, ldc, strideA, strideB, strideC };
    const call = {
      m,
      n,
      k,
      transA,
      transB,
      alpha,
      beta,
      batchCount,
      dtype,
      ...layout,
      ...operands,
      operands: [],
      opName: 'gemm' as const,
    };
    launcher.reset(() => kernel.run(call));
    const stored = half
      ? new Uint16Array(launcher.bytes(operands.c).slice().buffer)
      : new Float32Array(launcher.bytes(operands.c).slice().buffer);
    return { got: floatsOf(stored), want };
  }

  function check(shape: Shape): void {
    const { got, want } = product(shape);
    const wrong = got.findIndex((value, i) => !Object.is(value + 0, (want[i] as number) + 0));
    expect(wrong, `${JSON.stringify(shape)}: ${got[wrong]} for ${want[wrong]}`).toBe(-1);
  }

  describe(`gemm ${traits.hasFma ? 'with' : 'without'} multiply-add`, () => {
    for (const half of [false, true]) {
      test(`gives the exact product of every transposition and remainder, ${half ? 'f16' : 'f32'}`, () => {
        for (const [transA, transB] of [
          [false, false],
          [true, false],
          [false, true],
          [true, true],
        ] as const) {
          for (const m of [1, 2, 5, 6, 13]) {
            for (const n of [1, 3, 8, 17]) {
              for (const k of [1, 6, 21]) check({ m, n, k, transA, transB, half, pad: (m + n) % 3 });
            }
          }
          check({ m: 9, n: 11, k: 13, transA, transB, half, alpha: 2, beta: -3, pad: 1 });
          check({ m: 1, n: 31, k: 13, transA, transB, half, alpha: 0.5, beta: 1, pad: 2 });
          check({ m: 31, n: 1, k: 13, transA, transB, half, alpha: 0.5, beta: 1, pad: 2 });
        }
      });
    }

    test('crosses the borders of tiles and blocks, with B packed once or by each tile', () => {
      for (const half of [false, true]) {
        check({ m: 97, n: 261, k: 257, half, transA: half, beta: 1 });
        check({ m: 95, n: 300, k: 513, half, transB: !half });
        // Whole tiles, whose sums lie in C from the start; and the same where they must not.
        check({ m: 12, n: 16, k: 300, half, pad: 1 });
        check({ m: 12, n: 16, k: 300, half, pad: 1, alpha: 2 });
        check({ m: 12, n: 16, k: 300, half, pad: 1, beta: 1 });
        for (const transB of [false, true]) check({ m: 1, n: 9001, k: 45, transB, half });
        for (const transA of [false, true]) check({ m: 67, n: 1, k: 2050, transA, half: !transA, pad: 1 });
      }
    });

    test('goes through a batch, with one B for all or one each', () => {
      for (const isOneB of [false, true]) {
        check({ m: 20, n: 9, k: 30, batchCount: 3, isOneB });
        check({ m: 101, n: 19, k: 3, batchCount: 3, isOneB, pad: 1 });
        check({ m: 1, n: 19, k: 30, batchCount: 5, isOneB });
      }
    });

    test('gives beta C where there is nothing to sum', () => {
      check({ m: 7, n: 9, k: 0, beta: 2, pad: 1 });
      check({ m: 1, n: 9, k: 0 });
    });

    test('spreads no infinity beyond its row and column', () => {
      const { got } = product({ m: 30, n: 30, k: 30 }, (a, b) => {
        a.fill(1);
        b.fill(1);
        a[29 * 30] = Infinity;
        b[29] = Number.NaN;
      });
      expect(got.filter((value) => value === 30)).toHaveLength(29 * 29);
      expect(got[29 * 30]).toBe(Infinity);
      expect(got[29]).toBeNaN();
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
