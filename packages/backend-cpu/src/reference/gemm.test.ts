import type { GemmShape } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { batchedGemmReference, gemmReference } from './gemm.ts';

const gemm = (shape: GemmShape, a: number[], b: number[], c?: number[]) => [...gemmReference(shape, a, b, c).value];
const SIX = [1, 2, 3, 4, 5, 6];
const TWELVE = [7, 8, 9, 10, 11, 12];
const size = { m: 2, n: 2, k: 3 };

// All by hand: row times column.
describe('gemmReference: golden values', () => {
  it('2x3 times 3x2', () => {
    // [1 2 3; 4 5 6] [7 8; 9 10; 11 12]: 7 + 18 + 33, 8 + 20 + 36; 28 + 45 + 66, 32 + 50 + 72
    expect(gemm(size, SIX, TWELVE)).toEqual([58, 64, 139, 154]);
  });

  it.each(['T', 'C'] as const)('%s: both operands stored transposed', (trans) => {
    // A is stored [1 2; 3 4; 5 6], B [7 8 9; 10 11 12], so [1 3 5; 2 4 6] [7 10; 8 11; 9 12]:
    // 7 + 24 + 45, 10 + 33 + 60; 14 + 32 + 54, 20 + 44 + 72
    expect(gemm({ ...size, transA: trans, transB: trans }, SIX, TWELVE)).toEqual([76, 103, 100, 136]);
  });

  it('one operand transposed', () => {
    // [1 3 5; 2 4 6] [7 8; 9 10; 11 12]: 7 + 27 + 55, 8 + 30 + 60; 14 + 36 + 66, 16 + 40 + 72
    expect(gemm({ ...size, transA: 'T' }, SIX, TWELVE)).toEqual([89, 98, 116, 128]);
    // [1 2 3; 4 5 6] [7 10; 8 11; 9 12]: 7 + 16 + 27, 10 + 22 + 36; 28 + 40 + 54, 40 + 55 + 72
    expect(gemm({ ...size, transB: 'T' }, SIX, TWELVE)).toEqual([50, 68, 122, 167]);
  });

  it('leading dimensions skip what lies between the rows', () => {
    const gap = Number.NaN;
    const a = [1, 2, 3, gap, 4, 5, 6];
    const b = [7, 8, gap, gap, 9, 10, gap, gap, 11, 12];
    const c = [1, 1, gap, 1, 1];
    expect(gemm({ ...size, lda: 4, ldb: 4, ldc: 3, beta: 1 }, a, b, c)).toEqual([59, 65, 140, 155]);
  });

  it('alpha and beta', () => {
    // 2 I I + 3 ones
    expect(gemm({ m: 2, n: 2, k: 2, alpha: 2, beta: 3 }, [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1])).toEqual([
      5, 3, 3, 5,
    ]);
    // float32(0.1) = 13421773 / 2^27
    expect(gemm({ m: 1, n: 1, k: 1, alpha: 0.1 }, [1], [1])).toEqual([13421773 / 2 ** 27]);
    expect(gemm({ m: 1, n: 1, k: 0, beta: 0.1 }, [], [], [1])).toEqual([13421773 / 2 ** 27]);
  });

  it('magnitude is sum |a||b|, without alpha', () => {
    const { magnitude } = gemmReference({ m: 1, n: 1, k: 2, alpha: -5 }, [1, -2], [-3, -4]);
    expect([...magnitude]).toEqual([11]);
  });
});

describe('gemmReference: what is not read', () => {
  const nan = [Number.NaN];
  const one = { m: 1, n: 1, k: 1 };

  it('C when beta is 0', () => {
    expect(gemm({ ...one, beta: 0 }, [2], [3], nan)).toEqual([6]);
    expect(gemm(one, [2], [3], nan)).toEqual([6]);
  });

  it('A and B when alpha or k is 0', () => {
    expect(gemm({ ...one, alpha: 0, beta: 2 }, nan, nan, [3])).toEqual([6]);
    expect(gemm({ ...one, alpha: 0 }, nan, [Infinity], nan)).toEqual([0]);
    expect(gemm({ ...one, k: 0, beta: 2 }, nan, nan, [3])).toEqual([6]);
    expect(gemm({ ...one, k: 0 }, [], [], nan)).toEqual([0]);
    expect(gemm({ ...one, k: 0, alpha: Number.NaN }, [], [])).toEqual([0]);
  });

  it('NaN and infinities elsewhere are felt', () => {
    expect(gemm(one, nan, [0])).toEqual([Number.NaN]);
    expect(gemm(one, [0], [Infinity])).toEqual([Number.NaN]);
    expect(gemm({ ...one, beta: 1 }, [1], [1], nan)).toEqual([Number.NaN]);
    expect(gemm({ ...one, beta: Number.NaN }, [1], [1], [1])).toEqual([Number.NaN]);
    expect(gemm(one, [Infinity], [-2])).toEqual([-Infinity]);
  });
});

describe('batchedGemmReference', () => {
  it('two products with A broadcast, gaps between the matrices, and C scaled', () => {
    // [1 2; 3 4] times I and times 10 I, plus 2 C
    const a = [1, 2, 3, 4];
    const b = [1, 0, 0, 1, 99, 10, 0, 0, 10];
    const c = [1, 1, 1, 1, 99, 99, 5, 5, 5, 5];
    const shape = { m: 2, n: 2, k: 2, strideA: 0, strideB: 5, strideC: 6, batchCount: 2, beta: 2 };
    expect([...batchedGemmReference(shape, a, b, c).value]).toEqual([3, 4, 5, 6, 20, 30, 40, 50]);
  });

  it('equals gemm on each', () => {
    const a = Array.from({ length: 40 }, (_, i) => ((i * 7) % 11) - 5);
    const b = Array.from({ length: 40 }, (_, i) => ((i * 5) % 13) - 6);
    const one = { m: 2, n: 3, k: 4, transA: 'T', lda: 3 } as const;
    const all = batchedGemmReference({ ...one, strideA: 13, strideB: 12, strideC: 6, batchCount: 3 }, a, b);
    for (let batch = 0; batch < 3; batch++) {
      const single = gemmReference(one, a.slice(batch * 13), b.slice(batch * 12));
      expect(all.value.slice(batch * 6, batch * 6 + 6)).toEqual(single.value);
      expect(all.magnitude.slice(batch * 6, batch * 6 + 6)).toEqual(single.magnitude);
    }
  });
});
