import type { DevicePtr, GemmCall, Transpose } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { splitGemm } from './split-gemm.ts';

/** Which elements a gemm touches, by address: those of A and B for each element of C. */
function touched(call: GemmCall): Map<number, string> {
  const { m, n, k, transA = 'N', transB = 'N', a, b, c } = call;
  const bytes = call.dtype === 'f16' ? 2 : 4;
  const lda = call.lda ?? (transA === 'N' ? k : m);
  const ldb = call.ldb ?? (transB === 'N' ? n : k);
  const ldc = call.ldc ?? n;
  const result = new Map<number, string>();
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      const terms = Array.from({ length: k }, (_, p) => {
        const left = a + bytes * (transA === 'N' ? i * lda + p : p * lda + i);
        const right = b + bytes * (transB === 'N' ? p * ldb + j : j * ldb + p);
        return `${left}*${right}`;
      });
      const address = c + bytes * (i * ldc + j);
      expect(result.has(address)).toBe(false);
      result.set(address, terms.join('+'));
    }
  }
  return result;
}

const pointers = { a: 4096 as DevicePtr, b: 1e6 as DevicePtr, c: 3e6 as DevicePtr };
const SIDES: readonly Transpose[] = ['N', 'T', 'C'];
const cases = SIDES.flatMap((transA) =>
  SIDES.flatMap((transB) => (['rows', 'columns'] as const).map((axis) => ({ transA, transB, axis }))),
);

describe('the parts touch exactly what the whole does', () => {
  it.each(cases)('$transA$transB by $axis', ({ transA, transB, axis }) => {
    for (const extra of [{}, { dtype: 'f16' as const }, { lda: 40, ldb: 41, ldc: 42 }]) {
      for (const parts of [1, 2, 3, 7]) {
        const whole: GemmCall = { m: 13, n: 11, k: 3, transA, transB, ...extra, ...pointers };
        const cut = splitGemm(whole, { parts, axis, granularity: 4 });
        expect(cut.length).toBe(Math.min(parts, axis === 'rows' ? 4 : 3));
        const together = new Map<number, string>();
        for (const { call } of cut) {
          for (const [address, terms] of touched(call)) {
            expect(together.has(address)).toBe(false);
            together.set(address, terms);
          }
        }
        expect(together).toEqual(touched(whole));
      }
    }
  });
});

it('cuts the longer side into whole tiles that differ by at most one', () => {
  const ranges = (m: number, n: number, parts: number) =>
    splitGemm({ m, n, k: 8, ...pointers }, { parts }).map(({ axis, start, count }) => `${axis} ${start}+${count}`);
  expect(ranges(1000, 10, 2)).toEqual(['rows 0+512', 'rows 512+488']);
  expect(ranges(10, 1000, 3)).toEqual(['columns 0+320', 'columns 320+320', 'columns 640+360']);
  expect(ranges(10, 10, 4)).toEqual(['rows 0+10']);
  expect(ranges(0, 0, 4)).toEqual([]);
});

it('keeps alpha, beta and dtype', () => {
  const [part] = splitGemm({ m: 64, n: 64, k: 8, alpha: 2, beta: 3, dtype: 'f16', ...pointers }, { parts: 1 });
  expect(part?.call).toEqual({
    m: 64,
    n: 64,
    k: 8,
    alpha: 2,
    beta: 3,
    dtype: 'f16',
    lda: 8,
    ldb: 64,
    ldc: 64,
    ...pointers,
  });
});

it.each([
  [{ parts: 0 }, 'parts must be a positive integer, got 0'],
  [{ parts: 2, granularity: 1.5 }, 'granularity must be a positive integer, got 1.5'],
  [{ parts: 2, axis: 'depth' }, 'axis must be rows or columns, got depth'],
])('refuses %j', (split, message) => {
  expect(() => splitGemm({ m: 4, n: 4, k: 4, ...pointers }, split as never)).toThrow(message);
});
