import { describe, expect, it } from 'vitest';
import { productOf, sumOf } from './float-folds.ts';
import { gamma } from './float32.ts';
import { ANY_FLOAT, type Interval, NOT_A_NUMBER, point } from './interval.ts';

const { NaN: nan } = Number;
const points = (...values: number[]): Interval[] => values.map(point);
const widths = ({ lo, hi }: Interval, want: number): readonly [number, number] => [want - lo, hi - want];

describe('sum', () => {
  it('is exact of multiples of a power of two that stay below 2^24 of them', () => {
    expect(sumOf(points(1, -2, 3.5), false)).toEqual(point(2.5));
    expect(sumOf(points(2 ** 24 - 1, 1), false)).toEqual(point(2 ** 24));
    expect(sumOf(points(2 ** 100, 2 ** 90), false)).toEqual(point(2 ** 100 + 2 ** 90));
    expect(sumOf(points(0, 0), false)).toEqual(point(0));
  });

  it('else is gamma(n) of the absolute values wide to each side', () => {
    const terms = points(2 ** 24, 1, -1);
    const [below, above] = widths(sumOf(terms, false), 2 ** 24);
    expect(below / (gamma(3) * (2 ** 24 + 2))).toBeCloseTo(1, 6);
    expect(above / (gamma(3) * (2 ** 24 + 2))).toBeCloseTo(1, 6);
  });

  it('adds at most 1,024 one after the other, and those sums in a tree', () => {
    const terms = Array.from({ length: 65_536 }, () => point(0.1));
    const total = 6553.6;
    const [below] = widths(sumOf(terms, false), total);
    expect(below / (gamma(1024 + 32) * total)).toBeCloseTo(1, 5);
  });

  it('of intervals takes their ends, and the greatest absolute values of both signs', () => {
    const terms: Interval[] = [
      { lo: -1, hi: 2, nan: false },
      { lo: 10.1, hi: 10.2, nan: false },
    ];
    const { lo, hi } = sumOf(terms, false);
    expect((9.1 - lo) / (gamma(2) * 12.2)).toBeCloseTo(1, 4);
    expect((hi - 12.2) / (gamma(2) * 12.2)).toBeCloseTo(1, 4);
  });

  it('of one sign stays on its side of 0', () => {
    expect(sumOf(points(2 ** -126, 2 ** -126 + 2 ** -149), false).lo).toBe(0);
    expect(sumOf(points(-(2 ** -126), -(2 ** -126) - 2 ** -149), false).hi).toBe(0);
  });

  it('is anything where the order decides whether it overflows', () => {
    expect(sumOf(points(1e38, -1e38), false)).toEqual(ANY_FLOAT);
    expect(sumOf(points(2 ** 125, -(2 ** 125)), false)).toEqual(point(0));
    // All of one sign: it overflows in any order.
    expect(sumOf(points(3e38, 3e38), false)).toMatchObject({ hi: Infinity, nan: false });
    expect(sumOf(points(3e38, 3e38), false).lo).toBeGreaterThan(5.9e38);
    expect(sumOf(points(-(2 ** 127), -(2 ** 127)), false)).toMatchObject({ lo: -Infinity, nan: false });
  });

  it('infinities and NaN decide', () => {
    expect(sumOf(points(Infinity, 1), false)).toEqual(point(Infinity));
    expect(sumOf(points(Infinity, -Infinity), false)).toEqual(NOT_A_NUMBER);
    expect(sumOf(points(1e38, nan, -1e38), false)).toEqual(NOT_A_NUMBER);
    expect(sumOf([...points(1), { lo: 2, hi: 2, nan: true }], false)).toEqual({ lo: 3, hi: 3, nan: true });
    expect(sumOf(points(-Infinity, 3e38, 3e38), false)).toEqual(ANY_FLOAT);
    expect(sumOf([point(-1), { lo: 1, hi: Infinity, nan: false }], false)).toEqual(ANY_FLOAT);
  });

  it('of none is 0', () => {
    expect(sumOf([], false)).toEqual(point(0));
  });
});

describe('mean', () => {
  it('has three roundings more than the sum', () => {
    const [below] = widths(sumOf(points(1, 2, 4.5), true), 2.5);
    expect(below / (gamma(6) * 2.5)).toBeCloseTo(1, 6);
  });

  it('is finite where its elements are', () => {
    const { lo, hi, nan: isNan } = sumOf(points(3e38, 3e38, 3e38), true);
    expect([isNan, lo > 2.9e38, hi < 3.1e38]).toEqual([false, true, true]);
    expect(sumOf(points(3e38, -3e38), true)).toEqual(ANY_FLOAT);
  });

  it('of none is NaN, of zeros 0', () => {
    expect(sumOf([], true)).toEqual(NOT_A_NUMBER);
    expect(sumOf(points(0, 0, 0), true)).toEqual(point(0));
  });
});

describe('product', () => {
  it('is exact where no order rounds', () => {
    expect(productOf(points(3, -5, 0.25))).toEqual(point(-3.75));
    expect(productOf([])).toEqual(point(1));
  });

  it('else is gamma(2n) wide', () => {
    const [below] = widths(productOf(points(4097, 4099, 3)), 4097 * 4099 * 3);
    expect(below / (gamma(6) * 4097 * 4099 * 3)).toBeCloseTo(1, 6);
  });

  it('is anything where the order decides whether it overflows or underflows', () => {
    expect(productOf(points(2 ** 100, 2 ** -100))).toEqual(ANY_FLOAT);
    expect(productOf(points(2 ** 63, 2 ** -62))).toEqual(point(2));
    expect(productOf(points(2 ** 63, 2 ** -63))).toEqual(ANY_FLOAT);
    expect(productOf([{ lo: -1, hi: 1, nan: false }])).toEqual(ANY_FLOAT);
  });

  it('zeros, infinities and NaN decide', () => {
    expect(productOf(points(0, 5, 7))).toEqual(point(0));
    expect(productOf(points(Infinity, -5))).toEqual(point(-Infinity));
    expect(productOf(points(Infinity, 0))).toEqual(NOT_A_NUMBER);
    expect(productOf(points(nan, 0))).toEqual(NOT_A_NUMBER);
  });
});
