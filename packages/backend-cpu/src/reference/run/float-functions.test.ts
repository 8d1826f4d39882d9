import type { NodeOp } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { atan2, floatFunction } from './float-functions.ts';
import { FLOAT_FUNCTIONS } from './functions.ts';
import { type Interval, NOT_A_NUMBER, point } from './interval.ts';
import { ulpF32 } from './float32.ts';
import { rows } from '../../../test/support/rows.ts';

const from = (lo: number, hi: number): Interval => ({ lo, hi, nan: false });
const image = (op: NodeOp, x: Interval): Interval => {
  const of = floatFunction(op);
  if (of === undefined) throw new Error(`${op} is no function`);
  return of(x);
};

describe('values and grants', () => {
  // Python 3, module math; silu x/(1+exp(-x)), gelu x/2 erfc(-x/sqrt(2)), geluTanh x/(1+exp(-2z)). The grants by hand
  // from docs/numerics.md, with half a unit.
  it.each(
    rows<[NodeOp, number, number, number]>(`
    sqrt 2 1.4142135623730951 3.5; exp 1 2.718281828459045 5.5; exp -3 0.049787068367863944 9.5;
    exp -1000 0 211.5; exp2 0.5 1.4142135623730951 4.5; expm1 1e-10 1.00000000005e-10 8.5;
    expm1 1 1.718281828459045 8.5; log 2 0.6931471805599453 4.5; log2 3 1.584962500721156 6.5;
    log1p 1e-10 9.9999999995e-11 8.5; tanh 0.5 0.46211715726000974 8.5; erf 0.5 0.5204998778130465 8.5;
    erf -2 -0.9953222650189527 8.5; erf 1e-8 1.1283791670955126e-8 8.5; sigmoid 2 0.8807970779778823 12.5;
    silu 0.5 0.3112296656009273 9.5; silu -20 -4.122307236380407e-8 48.5; gelu 0.5 0.34573123063700656 17;
    gelu -3 -0.004049694094890287 34.5; geluTanh 1 0.8411919906082768 24.835614;
    geluTanh -3 -0.00363739208 50.069`),
  )('%s(%d)', (op, x, want, ulps) => {
    const { lo, hi } = image(op, point(x));
    const allowed = ulps * ulpF32(want);
    const slack = 2e-3 * allowed + 1e-8 * Math.abs(want) * (op === 'geluTanh' ? 1 : 0);
    expect(lo).toBeLessThanOrEqual(want);
    expect(hi).toBeGreaterThanOrEqual(want);
    const isTiny = want === 0;
    if (!isTiny) expect(Math.abs(want - lo - allowed)).toBeLessThanOrEqual(slack);
    if (!isTiny) expect(Math.abs(hi - want - allowed)).toBeLessThanOrEqual(slack);
    else expect(hi).toBeLessThanOrEqual(allowed * 1.01);
  });

  it.each([
    ['exp', 0, Infinity],
    ['exp2', 0, Infinity],
    ['expm1', -1, Infinity],
    ['log', null, Infinity],
    ['log2', null, Infinity],
    ['log1p', null, Infinity],
    ['sqrt', null, Infinity],
    ['tanh', -1, 1],
    ['erf', -1, 1],
    ['sigmoid', 0, 1],
    ['silu', 0, Infinity],
    ['gelu', 0, Infinity],
    ['geluTanh', 0, Infinity],
    ['sin', null, null],
    ['cos', null, null],
  ] as const)('%s of the infinities', (op, atMinus, atPlus) => {
    for (const [x, want] of [
      [-Infinity, atMinus],
      [Infinity, atPlus],
    ] as const) {
      const got = image(op, point(x));
      if (want === null) expect(got).toEqual(NOT_A_NUMBER);
      else
        expect((got.lo <= want && want <= got.hi && got.hi - got.lo < 1e-4 && !got.nan) || got.lo === want).toBe(true);
    }
  });

  it('has every function of one float', () => {
    const ops = Object.keys(FLOAT_FUNCTIONS);
    expect(ops.length).toBe(13);
  });
});

describe('outside of the domain', () => {
  it.each([
    ['sqrt', from(-1, 4), 0, 2],
    ['log', from(-1, 1), -Infinity, 0],
    ['log2', from(-1, 2), -Infinity, 1],
    ['log1p', from(-2, 0), -Infinity, 0],
  ] as const)('%s may be NaN', (op, x, lo, hi) => {
    const got = image(op, x);
    expect(got.nan).toBe(true);
    expect(got.lo).toBe(lo);
    expect(got.hi).toBeCloseTo(hi, 5);
    expect(image(op, point(-1.5))).toEqual(NOT_A_NUMBER);
  });

  it('0 is inside', () => {
    expect(image('sqrt', point(0))).toEqual(point(0));
    expect(image('log', point(0))).toEqual(point(-Infinity));
    expect(image('log1p', point(-1))).toEqual(point(-Infinity));
  });
});

describe('inner extrema', () => {
  // The minima, from the derivative's zero by bisection in Python.
  it.each([
    ['silu', -0.2784645427610738],
    ['gelu', -0.16997120747990369],
    ['geluTanh', -0.17004075057125417],
  ] as const)('%s', (op, least) => {
    const got = image(op, from(-2, 0.1));
    expect(got.lo).toBeCloseTo(least, 5);
    expect(got.lo).toBeLessThan(least);
    expect(got.hi).toBeGreaterThan(0);
    expect(image(op, from(-2, -1.5)).lo).toBeGreaterThan(least);
    const { of, least: place } = FLOAT_FUNCTIONS[op] as { of: (x: number) => number; least: number };
    expect(of(place)).toBeLessThan(of(place - 1e-5));
    expect(of(place)).toBeLessThan(of(place + 1e-5));
  });

  it('crests and troughs of sine and cosine', () => {
    expect(image('sin', from(1, 2)).hi).toBeCloseTo(1, 5);
    expect(image('sin', from(1, 2)).hi).toBeGreaterThan(1);
    expect(image('sin', from(4, 5)).lo).toBeLessThan(-1);
    expect(image('cos', from(3, 3.3)).lo).toBeLessThan(-1);
    expect(image('cos', from(-0.1, 0.1)).hi).toBeGreaterThan(1);
    expect(image('cos', from(-0.1, 0.1)).lo).toBeCloseTo(Math.cos(0.1), 5);
    expect(image('sin', from(100, 107)).lo).toBeLessThan(-1);
  });
});

describe('sine and cosine', () => {
  it('have an absolute error that grows with the angle', () => {
    const { lo, hi } = image('sin', point(1024));
    expect(hi - lo).toBeCloseTo(2 * 5 * 2 ** -23, 12);
  });

  it('are accurate below 2^24', () => {
    const { lo, hi } = image('sin', point(2 ** 24 - 1));
    expect((hi + lo) / 2).toBeCloseTo(Math.sin(2 ** 24 - 1), 6);
    expect(hi - lo).toBeLessThan(0.004);
  });

  it('are anything in [-1, 1] from 2^24 on', () => {
    expect(image('sin', point(2 ** 24))).toEqual(from(-1, 1));
    expect(image('cos', from(2 ** 24, Infinity))).toEqual({ lo: -1, hi: 1, nan: true });
  });
});

it('rounding to integers rounds nothing', () => {
  expect(image('floor', from(-1.5, 2.5))).toEqual(from(-2, 2));
  expect(image('ceil', from(-1.5, 2.5))).toEqual(from(-1, 3));
  expect(image('trunc', from(-1.5, 2.5))).toEqual(from(-1, 2));
  expect(image('round', from(-2.5, 2.5))).toEqual(from(-2, 2));
  expect(image('round', point(3.5))).toEqual(point(4));
  expect(image('round', point(-Infinity))).toEqual(point(-Infinity));
  expect(image('sign', from(-0.5, 3))).toEqual(from(-1, 1));
});

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
