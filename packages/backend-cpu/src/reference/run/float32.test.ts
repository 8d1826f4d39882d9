import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flushed, gamma, inFloat32, ulpF32, widenedByUlps } from './float32.ts';
import { type Interval, NOT_A_NUMBER, point } from './interval.ts';

const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });

it('gamma(n) = n u / (1 - n u)', () => {
  expect(gamma(1)).toBeCloseTo(2 ** -23, 13);
  expect(gamma(2 ** 22)).toBe(1);
  expect(gamma(2 ** 23)).toBe(Infinity);
});

it('the unit in the last place grows at powers of two and ends with the subnormals', () => {
  expect(ulpF32(1)).toBe(2 ** -23);
  expect(ulpF32(1.999)).toBe(2 ** -23);
  expect(ulpF32(-2)).toBe(2 ** -22);
  expect(ulpF32(2 ** -140)).toBe(2 ** -149);
  expect(ulpF32(0)).toBe(2 ** -149);
});

describe('widenedByUlps', () => {
  it('moves each end by its own units', () => {
    const { lo, hi } = widenedByUlps(from(1, 8), 2);
    expect(1 - lo).toBeCloseTo(2 ** -22, 12);
    expect(hi - 8).toBeCloseTo(2 ** -19, 12);
  });

  it('reaches further from the last power of two inside', () => {
    // 1 - 2^-25 has a unit of 2^-24, but 1 may become 1 - 8 * 2^-23.
    expect(widenedByUlps(from(1 - 2 ** -25, 1), 8).lo).toBeCloseTo(1 - 2 ** -20, 13);
    expect(widenedByUlps(from(-1, -1 + 2 ** -25), 8).hi).toBeCloseTo(-1 + 2 ** -20, 13);
  });

  it('changes no sign, no zero and no infinity', () => {
    expect(widenedByUlps(point(2 ** -149), 8).lo).toBeCloseTo(0, 60);
    expect(widenedByUlps(point(-(2 ** -149)), 8).hi).toBeCloseTo(0, 60);
    expect(widenedByUlps(from(0, 0), 8)).toEqual(from(0, 0));
    expect(widenedByUlps(from(Infinity, Infinity), 8)).toEqual(from(Infinity, Infinity));
    expect(widenedByUlps(NOT_A_NUMBER, 8)).toEqual(NOT_A_NUMBER);
  });

  it('holds every error of every number inside', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(
        float,
        float,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 300 }),
        (a, b, at, ulps) => {
          const [lo, hi] = [Math.min(a, b), Math.max(a, b)];
          const inside = Math.min(Math.max(lo + (hi - lo) * at, lo), hi);
          const widened = widenedByUlps(from(lo, hi), ulps);
          const error = ulps * ulpF32(inside);
          if (inside > 0) expect(widened.lo).toBeLessThanOrEqual(Math.max(inside - error, 0));
          if (inside < 0) expect(widened.hi).toBeGreaterThanOrEqual(Math.min(inside + error, 0));
          if (inside !== 0) expect(widened.lo <= inside && inside <= widened.hi).toBe(true);
        },
      ),
    );
  });
});

it('beyond the range there is but infinity', () => {
  expect(inFloat32(from(4e38, Infinity))).toEqual(from(Infinity, Infinity));
  expect(inFloat32(from(-Infinity, -4e38))).toEqual(from(-Infinity, -Infinity));
  expect(inFloat32(from(-4e38, 1))).toEqual(from(-4e38, 1));
});

it('what meets the subnormals is joined with 0', () => {
  expect(flushed(from(2 ** -130, 1))).toEqual(from(0, 1));
  expect(flushed(from(-1, -(2 ** -130)))).toEqual(from(-1, 0));
  expect(flushed(from(2 ** -126, 1))).toEqual(from(2 ** -126, 1));
  expect(flushed(from(-1, 1))).toEqual(from(-1, 1));
  expect(flushed(NOT_A_NUMBER)).toEqual(NOT_A_NUMBER);
});
