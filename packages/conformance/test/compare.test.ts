import { describe, expect, it } from 'vitest';
import {
  attentionBound,
  compareAll,
  compareBytes,
  gamma,
  MAX_F32,
  MIN_NORMAL,
  productBound,
  reduceBound,
  ulpF16,
  ulpF32,
} from '../src/checks/compare.ts';
import type { CaseFailure } from '../src/harness/case.ts';

const check = (got: number, want: number, bound = 0, format: 'f32' | 'f16' = 'f32'): void =>
  compareAll('x', [got], [want], { bound: () => bound, format });
const refuses = (...args: Parameters<typeof check>): void => expect(() => check(...args)).toThrow(/^x: 1 of 1 wrong/);

describe('compareAll', () => {
  it('wants NaN where it is wanted and nowhere else', () => {
    check(Number.NaN, Number.NaN);
    refuses(1, Number.NaN, Infinity);
    refuses(Infinity, Number.NaN, Infinity);
    refuses(Number.NaN, 1, Infinity);
    expect(() => check(Number.NaN, 1)).toThrow(/; NaN is what an output holds before the call, and what lies in gaps/);
    expect(() => check(2, 1)).toThrow(/off by [\d.e+]+ ulp$/);
    refuses(Number.NaN, Infinity, Infinity);
  });

  it('tells infinities apart, but not zeros', () => {
    check(Infinity, Infinity);
    refuses(-Infinity, Infinity, 1);
    refuses(3.4e38, Infinity, 1e38);
    refuses(Infinity, 1, 1e30);
    check(-0, 0);
    check(0, -0);
  });

  it('lets infinity pass where the interval overflows', () => {
    const beyond = MAX_F32 * (1 + 2 ** -25);
    check(Infinity, MAX_F32, beyond - MAX_F32);
    refuses(Infinity, MAX_F32, (beyond - MAX_F32) / 2);
    check(-Infinity, -MAX_F32, 2 ** 104);
    refuses(Infinity, -MAX_F32, 2 ** 104);
    check(Infinity, 65504, 16, 'f16');
    refuses(Infinity, 65504, 15, 'f16');
    refuses(Infinity, 65504, 16, 'f32');
  });

  it('includes the bound itself', () => {
    check(1.25, 1, 0.25);
    check(0.75, 1, 0.25);
    refuses(1.26, 1, 0.25);
    refuses(1 + 2 ** -23, 1);
  });

  it('takes other acceptable values where there are any', () => {
    const also = (i: number): number[] => (i === 1 ? [7] : []);
    compareAll('x', [1, 7], [1, 2], { bound: () => 0, also });
    expect(() => compareAll('x', [7, 2], [1, 2], { bound: () => 0, also })).toThrow(/first at \[0\]/);
  });

  it('says index, got, want, bound, ulp and count', () => {
    const bound = (i: number): number => (i === 2 ? 0.25 : 0);
    expect(() => compareAll('c', [1, 2, 4, 9], [1, 2, 3, 8], { bound })).toThrow(
      'c: 2 of 4 wrong; first at [2]: got 4, want 3, bound 0.250, off by 4.19e+6 ulp',
    );
    expect(() => compareAll('c', [4], [3], { bound: () => 0, format: 'f16' })).toThrow(/off by 512 ulp$/);
    expect(() => compareAll('c', [Number.NaN], [3], { bound: () => 0 })).toThrow(
      /got NaN, want 3, exactly; NaN is what/,
    );
    expect(() => compareAll('c', [1], [1, 2], { bound: () => 0 })).toThrow('c: 1 entries instead of 2');
  });

  it('compares bytes', () => {
    compareBytes('b', Uint8Array.of(1, 2), Uint8Array.of(1, 2));
    expect(() => compareBytes('b', Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toThrow('b: byte 1 of 2 is 2, want 3');
    expect(() => compareBytes('b', Uint8Array.of(1), Uint8Array.of(1, 3))).toThrow('b: 1 bytes instead of 2');
  });

  it('also says in numbers what is wrong', () => {
    const failure = (compare: () => void): unknown => {
      try {
        compare();
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const bytes = failure(() => compareBytes('b', Uint8Array.of(1, 2, 3), Uint8Array.of(1, 3, 4)));
    expect(bytes).toMatchObject({
      mismatch: { what: 'b', unit: 'byte', wrong: 2, total: 3, index: 1, got: 2, want: 3, bound: 0 },
    });
    const inputs = (i: number): string => `f(${i})`;
    const elements = failure(() => compareAll('x', [1, 2.5, NaN], [1, 2, 3], { bound: () => 0.25, inputs }));
    expect(elements).toMatchObject({
      mismatch: {
        what: 'x',
        unit: 'element',
        wrong: 2,
        total: 3,
        index: 1,
        got: 2.5,
        want: 2,
        bound: 0.25,
        inputs: 'f(1)',
      },
    });
    expect((elements as CaseFailure).mismatch?.ulp).toBe(0.5 * 2 ** 22);
  });
});

describe('bounds', () => {
  it('gamma_n = n u / (1 - n u), u = 2^-23', () => {
    expect(gamma(0)).toBe(0);
    expect(gamma(1)).toBe(1 / 8_388_607);
    // n u = 1/2.
    expect(gamma(2 ** 22)).toBe(1);
  });

  it('spacing of float32 and binary16', () => {
    expect([1, 1.5, 2, -4, 0.75].map(ulpF32)).toEqual([1, 1, 2, 4, 0.5].map((x) => x * 2 ** -23));
    expect([0, 2 ** -149, 2 ** -126, 2 ** -125].map(ulpF32)).toEqual([1, 1, 1, 2].map((x) => x * 2 ** -149));
    expect(ulpF32(MAX_F32)).toBe(2 ** 104);
    expect([1, 2048, 65504, 2 ** -24, 0].map(ulpF16)).toEqual([2 ** -10, 2, 32, 2 ** -24, 2 ** -24]);
    // Just under a power of two, where log2 rounds up.
    expect(ulpF32(2 - 2 ** -52)).toBe(2 ** -23);
  });

  it('products: |alpha| gamma_{k+3} sum|a||b| + gamma_3 |beta||c| + (|alpha| k + 2) 2^-126', () => {
    expect(productBound(5, 1, 0, 0, 0)).toBe(7 * MIN_NORMAL);
    expect(productBound(5, -2, 0, 10, 7)).toBeCloseTo((20 * 8) / (8_388_608 - 8), 18);
    expect(productBound(5, 0, 3, 10, -7)).toBeCloseTo((21 * 3) / (8_388_608 - 3), 18);
    expect(productBound(1, 1, 0, Infinity, 0)).toBe(Infinity);
    // Beta 0 does not look at C.
    expect(productBound(1, 1, 0, 1, Number.NaN)).toBe(productBound(1, 1, 0, 1, 0));
  });

  it('sums: gamma_d sum|x| with d = min(n, 1024 + 2 ceil(log2 n)); a mean 3 more', () => {
    expect(reduceBound(10, false, 6)).toBeCloseTo((6 * 10) / (8_388_608 - 10), 18);
    expect(reduceBound(10, true, 6)).toBeCloseTo((6 * 13) / (8_388_608 - 13), 18);
    expect(reduceBound(100_003, false, 1)).toBeCloseTo(1058 / (8_388_608 - 1058), 18);
    expect(reduceBound(0, false, 0)).toBe(2 * MIN_NORMAL);
  });

  it('attention: 2 (expm1(2 delta) + gamma_{4 L}) sum p|v| + u spread', () => {
    const base = { headDim: 6, keys: 1, scoreMagnitude: 0, magnitude: 0, spread: 0 };
    expect(attentionBound(base)).toBe(3 * MIN_NORMAL);
    expect(attentionBound({ ...base, spread: 4 })).toBeCloseTo(4 * 2 ** -23, 18);
    expect(attentionBound({ ...base, magnitude: 3 })).toBeCloseTo((2 * 3 * 4) / (8_388_608 - 4), 18);
    const delta = (8 / (8_388_608 - 8)) * 100;
    const both = attentionBound({ ...base, scoreMagnitude: 100, magnitude: 1 });
    expect(both).toBeCloseTo(2 * (Math.expm1(2 * delta) + 4 / (8_388_608 - 4)), 15);
  });
});
