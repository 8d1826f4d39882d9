import { describe, expect, it } from 'vitest';
import { abs, add, div, max, min, mul, neg, rsqrt, square, withNan } from './float-arithmetic.ts';
import { type Interval, NOT_A_NUMBER, point } from './interval.ts';

const { NaN: nan } = Number;
const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });
/** A value that was read keeps the sign of zero. */
const read = (value: number): Interval => ({ ...point(value), copy: { dtype: 'f32', bits: 0 } });

function expectNear({ lo, hi }: Interval, wantLo: number, wantHi: number, ulps: number): void {
  const widened = (x: number): number => ulps * Math.abs(x) * 2 ** -23 + 2 ** -48 * Math.abs(x);
  expect(lo).toBeLessThanOrEqual(wantLo);
  expect(lo).toBeGreaterThanOrEqual(wantLo - widened(wantLo));
  expect(hi).toBeGreaterThanOrEqual(wantHi);
  expect(hi).toBeLessThanOrEqual(wantHi + widened(wantHi));
}

describe('add', () => {
  it('is exact where the sum of points is a float32', () => {
    expect(add(point(1), point(2))).toEqual(point(3));
    expect(add(point(2 ** 24), point(2))).toEqual(point(2 ** 24 + 2));
    expect(add(point(Infinity), point(1))).toEqual(point(Infinity));
    expect(add(point(Infinity), point(-Infinity))).toEqual(NOT_A_NUMBER);
  });

  it('is one unit in the last place wide to each side where it is not', () => {
    // 2^24 + 1 lies between 2^24 and 2^24 + 2, whose spacing is 2.
    const { lo, hi } = add(point(2 ** 24), point(1));
    expect(lo).toBeCloseTo(2 ** 24 - 1, 5);
    expect(hi).toBeCloseTo(2 ** 24 + 3, 5);
  });

  it('sees what float64 rounds away', () => {
    // 2^60 - 2^-60 is 2^60 in float64; truncated to float32 it is the number before.
    const { lo } = add(point(2 ** 60), point(-(2 ** -60)));
    expect(lo).toBeLessThanOrEqual(2 ** 60 - 2 ** 36);
  });

  it('adds ends, and is NaN where Infinity may meet -Infinity', () => {
    expectNear(add(from(1, 2), from(10, 20)), 11, 22, 1);
    expect(add(from(1, Infinity), from(-Infinity, 0))).toEqual({ lo: -Infinity, hi: Infinity, nan: true });
    expect(add(from(1, Infinity), point(-Infinity))).toEqual({ lo: -Infinity, hi: -Infinity, nan: true });
  });

  it('beyond the range begins where the sum does, and ends with Infinity', () => {
    const { lo, hi } = add(point(3e38), point(3e38));
    expect(lo).toBeGreaterThan(5.9e38);
    expect(hi).toBe(Infinity);
  });
});

describe('mul', () => {
  it('is exact where the product of points is a float32', () => {
    expect(mul(point(3), point(-4))).toEqual(point(-12));
    expect(mul(point(0), point(1e30))).toEqual(point(0));
    expect(mul(point(0), point(Infinity))).toEqual(NOT_A_NUMBER);
  });

  it('takes the extremes of the corners', () => {
    expectNear(mul(from(-1, 2), from(3, 5)), -5, 10, 1);
    expectNear(mul(from(-3, -2), from(-7, 4)), -12, 21, 1);
  });

  it('0 times Infinity', () => {
    expect(mul(from(0, 1), from(1, Infinity))).toEqual({ lo: 0, hi: Infinity, nan: true });
    expect(mul(point(0), from(1, Infinity))).toEqual({ lo: 0, hi: 0, nan: true });
    expect(mul(from(-1, 1), point(Infinity))).toEqual({ lo: -Infinity, hi: Infinity, nan: true });
    expect(mul(from(0, 1), point(Infinity))).toEqual({ lo: Infinity, hi: Infinity, nan: true });
  });

  it('of a number by itself is not negative', () => {
    expectNear(square(from(-1, 2)), 0, 4, 1);
    expect(square(from(-1, 2)).lo).toBe(0);
    expectNear(square(from(-3, -2)), 4, 9, 1);
    expect(square(point(-3))).toEqual(point(9));
  });
});

describe('div', () => {
  it('is 3.5 units in the last place wide to each side', () => {
    // 1/3 lies in [2^-2, 2^-1): its unit is 2^-25.
    const { lo, hi } = div(point(1), point(3));
    expect(1 / 3 - lo).toBeCloseTo(3.5 * 2 ** -25, 14);
    expect(hi - 1 / 3).toBeCloseTo(3.5 * 2 ** -25, 14);
  });

  it('by what may be 0', () => {
    expect(div(point(1), read(0))).toEqual(point(Infinity));
    expect(div(point(1), read(-0))).toEqual(point(-Infinity));
    expect(div(point(0), read(0))).toEqual(NOT_A_NUMBER);
    expect(div(from(-1, 1), read(0))).toEqual({ lo: -Infinity, hi: Infinity, nan: true });
    expect(div(point(1), point(0))).toEqual(from(-Infinity, Infinity));
    expect(div(point(1), from(0, 1))).toEqual(from(-Infinity, Infinity));
    expect(div(point(0), from(0, 1))).toEqual({ lo: 0, hi: 0, nan: true });
    expect(div(point(0), point(0))).toEqual(NOT_A_NUMBER);
  });

  it('of and by what may be infinite', () => {
    expect(div(point(5), point(Infinity))).toEqual(point(0));
    expect(div(point(Infinity), point(Infinity))).toEqual(NOT_A_NUMBER);
    expect(div(from(1, Infinity), from(1, Infinity))).toEqual({ lo: 0, hi: Infinity, nan: true });
    expect(div(from(-Infinity, Infinity), point(Infinity))).toEqual({ lo: 0, hi: 0, nan: true });
    expect(div(point(Infinity), from(1, Infinity))).toEqual({ lo: Infinity, hi: Infinity, nan: true });
  });
});

describe('what rounds nothing', () => {
  it('neg, abs, min, max', () => {
    expect(neg(from(-1, 2))).toEqual(from(-2, 1));
    expect(abs(from(-3, 2))).toEqual(from(0, 3));
    expect(abs(from(-3, -2))).toEqual(from(2, 3));
    expect(min(from(1, 4), from(2, 3))).toEqual(from(1, 3));
    expect(max(from(1, 4), from(2, 3))).toEqual(from(2, 4));
  });
});

describe('rsqrt', () => {
  it('falls', () => {
    expectNear(rsqrt(from(4, 16)), 0.25, 0.5, 9);
    expect(rsqrt(point(Infinity))).toEqual(point(0));
  });

  it('of 0 has the sign of the zero, and of less is NaN', () => {
    expect(rsqrt(read(0))).toEqual(point(Infinity));
    expect(rsqrt(read(-0))).toEqual(point(-Infinity));
    expect(rsqrt(point(0))).toEqual(from(-Infinity, Infinity));
    expect(rsqrt(from(-1, 1))).toEqual({ lo: -Infinity, hi: Infinity, nan: true });
    expect(rsqrt(point(-1))).toEqual(NOT_A_NUMBER);
  });
});

describe('withNan', () => {
  it('lets NaN of an operand through', () => {
    expect(withNan(max, [point(nan), point(2)])).toEqual(NOT_A_NUMBER);
    expect(withNan(max, [{ lo: 1, hi: 3, nan: true }, point(2)])).toEqual({ lo: 2, hi: 3, nan: true });
  });
});
