import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { gemm, type Storage } from './gemm.ts';

const defaults = { alpha: 1, beta: 0, transA: false, transB: false, batchCount: 1, strideA: 0, strideB: 0, strideC: 0 };
type Shape = typeof defaults & { m: number; n: number; k: number; pad?: number; half?: boolean };

/** Small integers, so that every order of summation gives the same bits. */
function integers(length: number, seed: number, half = false): Storage {
  const values = Float32Array.from({ length }, (_, i) => ((i * 7919 + seed * 104729) % 15) - 7);
  return half ? Uint16Array.from(values, (value) => f32ToF16Bits(value)) : values;
}

const valueOf = (storage: Storage, i: number): number =>
  storage instanceof Uint16Array ? f16BitsToF32(storage[i] as number) : (storage[i] as number);

function check(shape: Partial<Shape> & { m: number; n: number; k: number }): void {
  const full = { ...defaults, pad: 0, half: false, ...shape };
  const { m, n, k, transA, transB, alpha, beta, batchCount, pad, half } = full;
  const lda = (transA ? m : k) + pad;
  const ldb = (transB ? k : n) + pad;
  const ldc = n + pad;
  const strideA = full.strideA || (transA ? k : m) * lda;
  const strideB = batchCount > 1 ? full.strideB : 0;
  const strideC = m * ldc;
  const a = integers(strideA * batchCount, 1, half);
  const b = integers((transB ? n : k) * ldb + strideB * batchCount, 2, half);
  const c = integers(strideC * batchCount, 3, half);
  if (beta === 0) c.fill(half ? 0x7e00 : Number.NaN);
  const want = Array.from(c, (_, i) => valueOf(c, i));
  for (let t = 0; t < batchCount; t++) {
    for (let i = 0; i < m; i++) {
      for (let j = 0; j < n; j++) {
        let sum = 0;
        for (let p = 0; p < k; p++) {
          const x = valueOf(a, t * strideA + (transA ? p * lda + i : i * lda + p));
          sum += x * valueOf(b, t * strideB + (transB ? j * ldb + p : p * ldb + j));
        }
        const at = t * strideC + i * ldc + j;
        const exact = alpha * sum + (beta === 0 ? 0 : beta * (want[at] as number));
        want[at] = half ? f16BitsToF32(f32ToF16Bits(exact)) : Math.fround(exact);
      }
    }
  }
  gemm({ ...full, lda, ldb, ldc, strideA, strideB, strideC, dtype: half ? 'f16' : 'f32', operands: [] }, a, b, c);
  expect(Array.from(c, (_, i) => valueOf(c, i))).toEqual(want);
}

describe('gemm', () => {
  const sizes = [1, 2, 3, 4, 7, 17, 70];
  for (const half of [false, true]) {
    for (const [transA, transB] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      it(`gives the exact product, ${half ? 'f16' : 'f32'}, transposes ${transA} ${transB}`, () => {
        for (const m of sizes) {
          for (const n of sizes) {
            for (const k of [1, 5, 69]) check({ m, n, k, transA, transB, half, pad: (m + n) % 3 });
          }
        }
        check({ m: 9, n: 11, k: 13, transA, transB, half, alpha: 2, beta: -3, pad: 1 });
        check({ m: 40, n: 31, k: 13, transA, transB, half, alpha: 0.5, beta: 1, pad: 2 });
      });
    }
  }

  it('crosses every block boundary', () => {
    for (const m of [191, 193]) for (const n of [255, 257]) check({ m, n, k: 37, transA: n > 256, transB: m > 192 });
    for (const k of [255, 257, 513]) {
      for (const transB of [false, true]) check({ m: 194, n: 5, k, transB, transA: !transB, beta: 1 });
    }
    for (const k of [1023, 1025, 2050]) {
      for (const transA of [false, true]) {
        check({ m: 67, n: 1, k, transA, pad: 1 });
        check({ m: 1, n: 67, k, transB: transA, pad: 1, half: true, alpha: 0.25 });
        check({ m: 1030, n: 1, k: 66, transA, pad: 1 });
      }
    }
  });

  it('goes through a batch, with a broadcast operand or two', () => {
    check({ m: 20, n: 9, k: 30, batchCount: 3, strideB: 0 });
    check({ m: 3, n: 2, k: 4, batchCount: 5, strideB: 8, pad: 1 });
  });

  it('spreads no infinity beyond its row and column', () => {
    const a = new Float32Array(70 * 70).fill(1);
    const b = new Float32Array(70 * 70).fill(1);
    const c = new Float32Array(70 * 70);
    a[69 * 70] = Infinity;
    b[69] = Number.NaN;
    const shape = { ...defaults, m: 70, n: 70, k: 70, lda: 70, ldb: 70, ldc: 70, dtype: 'f32', operands: [] } as const;
    gemm(shape, a, b, c);
    expect(c.filter((value) => value === 70)).toHaveLength(69 * 69);
    expect(c[69 * 70]).toBe(Infinity);
    expect(c[69]).toBeNaN();
  });
});
