import { describe, expect, it } from 'vitest';
import { type Interval, point } from './interval.ts';
import { pow } from './power.ts';
import { rows } from '../../../test/support/rows.ts';

const { NaN: nan } = Number;
const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });
const read = (value: number): Interval => ({ ...point(value), copy: { dtype: 'f32', bits: 0 } });

// C99 F.9.4.4, line by line, of zeros that were read.
it.each(
  rows<[number, number, number]>(`
    0 -3 Infinity; -0 -3 -Infinity; -0 -2 Infinity; 0 -2.5 Infinity; 0 3 0; -0 3 0; -1 Infinity 1;
    -1 -Infinity 1; 1 NaN 1; 1 Infinity 1; NaN 0 1; NaN -0 1; Infinity 0 1; 0.5 -Infinity Infinity;
    -2 -Infinity 0; 2 Infinity Infinity; -Infinity -3 0; -Infinity 3 -Infinity; -Infinity 0.5 Infinity;
    Infinity -1 0; Infinity 0.5 Infinity`),
)('pow(%d, %d) = %d', (x, y, want) => {
  const got = pow(read(x), read(y));
  expect(got.nan).toBe(false);
  expect(got.lo <= want && want <= got.hi).toBe(true);
  expect(want === 1 ? got.hi - got.lo : Math.abs(got.hi) - Math.abs(got.lo) || 0).toBeLessThan(1e-5);
});

it.each([
  [-2, 0.5],
  [nan, 1],
  [2, nan],
])('pow(%d, %d) is NaN', (x, y) => {
  const got = pow(point(x), point(y));
  expect(got.nan).toBe(true);
  expect(got.lo).toBeGreaterThan(got.hi);
});

describe('ranges', () => {
  const expectNear = ({ lo, hi }: Interval, wantLo: number, wantHi: number): void => {
    expect(lo).toBeLessThanOrEqual(wantLo);
    expect(hi).toBeGreaterThanOrEqual(wantHi);
    expect(lo).toBeGreaterThan(wantLo - 1e-4 * Math.abs(wantLo) - 1e-12);
    expect(hi).toBeLessThan(wantHi + 1e-4 * Math.abs(wantHi) + 1e-12);
  };

  it('of positive bases have their extremes in the corners', () => {
    expectNear(pow(from(2, 3), from(1, 2)), 2, 9);
    expectNear(pow(from(2, 3), from(-2, -1)), 1 / 9, 1 / 2);
    expectNear(pow(from(0.5, 2), from(-1, 2)), 0.25, 4);
  });

  it('that reach beyond float64 have a lower end', () => {
    const { lo, hi } = pow(from(2 ** 32 - 64, 2 ** 32), point(32));
    expect([lo > 2 ** 1023, hi]).toEqual([true, Infinity]);
  });

  it('of negative bases need an integer', () => {
    expectNear(pow(from(-3, -2), point(3)), -27, -8);
    expectNear(pow(from(-3, -2), point(2)), 4, 9);
    expectNear(pow(from(-3, 2), point(2)), 0, 9);
    expect(pow(from(-3, -2), from(1, 2)).nan).toBe(true);
    expect(pow(from(-3, 2), point(0.5))).toMatchObject({ lo: 0, nan: true });
  });

  it('of a zero of unknown sign', () => {
    expect(pow(point(0), point(-3))).toMatchObject({ lo: -Infinity, hi: Infinity });
    expect(pow(point(0), point(-2))).toMatchObject({ lo: Infinity, hi: Infinity });
    expect(pow(from(0, 1), from(-1, 1))).toMatchObject({ hi: Infinity });
  });

  it('NaN beside an exponent that may be 0', () => {
    const got = pow(point(nan), from(0, 1));
    expect(got.nan).toBe(true);
    expect(got.lo <= 1 && 1 <= got.hi).toBe(true);
  });
});
