import { describe, expect, it } from 'vitest';
import { atan2 } from './atan2.ts';
import { type Interval, point } from './interval.ts';

const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });
const read = (value: number): Interval => ({ ...point(value), copy: { dtype: 'f32', bits: 0 } });
const expectNear = ({ lo, hi }: Interval, wantLo: number, wantHi: number): void => {
  expect(lo).toBeCloseTo(wantLo, 5);
  expect(hi).toBeCloseTo(wantHi, 5);
};

// C99 F.9.1.4, line by line, of zeros that were read.
it.each([
  [0, -0, Math.PI],
  [-0, -0, -Math.PI],
  [0, 0, 0],
  [-0, 0, 0],
  [0, -2, Math.PI],
  [-0, -2, -Math.PI],
  [0, 2, 0],
  [-3, 0, -Math.PI / 2],
  [-3, -0, -Math.PI / 2],
  [3, -0, Math.PI / 2],
  [3, -Infinity, Math.PI],
  [-3, -Infinity, -Math.PI],
  [3, Infinity, 0],
  [Infinity, 3, Math.PI / 2],
  [-Infinity, -3, -Math.PI / 2],
  [Infinity, -Infinity, (3 * Math.PI) / 4],
  [-Infinity, Infinity, -Math.PI / 4],
])('atan2(%d, %d) = %d', (y, x, want) => {
  expectNear(atan2(read(y), read(x)), want, want);
});

describe('ranges', () => {
  it('have their extremes at corners', () => {
    expectNear(atan2(from(1, 2), from(1, 2)), Math.atan2(1, 2), Math.atan2(2, 1));
    expectNear(atan2(from(1, 2), from(-1, 2)), Math.atan2(1, 2), Math.atan2(1, -1));
    expectNear(atan2(from(-1, 1), from(1, 2)), -Math.PI / 4, Math.PI / 4);
  });

  it('jump where they meet the negative axis, and where a zero may have either sign', () => {
    expectNear(atan2(from(-1, 1), from(-1, 2)), -Math.PI, Math.PI);
    expectNear(atan2(from(0, 1), from(-2, -1)), -Math.PI, Math.PI);
    expectNear(atan2(point(0), point(-1)), -Math.PI, Math.PI);
    expectNear(atan2(read(0), point(0)), 0, Math.PI);
    expectNear(atan2(point(0), point(1)), 0, 0);
  });
});
