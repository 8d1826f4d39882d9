import { describe, expect, it } from 'vitest';
import { run } from '../../../test/support/run-kernel.ts';
import { compareStored } from './compare-stored.ts';
import { NAN } from './run-data.ts';

const { NaN: nan } = Number;

describe('the store function', () => {
  const third = (dtype: 'f16' | 'bf16', x: number) =>
    run(
      { inputs: { x: 'f32' } },
      ({ x: value }, k) => k.div(value, 3),
      { shape: [1], outputs: { y: { dtype } } },
      {
        inputs: { x: new Float32Array([x]) },
      },
    );

  it('is applied to both ends: a truncating f16 store is outside', () => {
    // 1/3 = 0x3555 + 0.33 units: both ends round down to it. 5/3 = 0x3eaa + 0.67 units: both round up to 0x3eab.
    expect(compareStored(third('f16', 1), new Uint16Array([0x3555]))).toBeUndefined();
    expect(compareStored(third('f16', 5), new Uint16Array([0x3eab]))).toBeUndefined();
    expect(compareStored(third('f16', 5), new Uint16Array([0x3eaa]))).toMatchObject({ wrong: 1, index: 0, offset: 0 });
  });

  it('bf16: the same', () => {
    // 1/3 = 0x3eaaaaab: rounded to 0x3eab.
    expect(compareStored(third('bf16', 1), new Uint16Array([0x3eab]))).toBeUndefined();
    expect(compareStored(third('bf16', 1), new Uint16Array([0x3eaa]))).toMatchObject({ wrong: 1 });
  });

  it('saturates narrow integers', () => {
    const y = run(
      { inputs: { x: 'i32' } },
      ({ x }, k) => k.mul(x, 2),
      { shape: [3], outputs: { y: { dtype: 'i8', strides: [2] } } },
      { inputs: { x: new Int32Array([-100, 5, 100]) } },
    );
    expect([[...y.lo], [...y.hi]]).toEqual([
      [-128, 10, 127],
      [-128, 10, 127],
    ]);
    expect(compareStored(y, new Int8Array([-128, 99, 10, 99, 127]))).toBeUndefined();
    expect(compareStored(y, new Int8Array([-128, 99, 10, 99, -56]))).toMatchObject({ index: 2, offset: 4, got: -56 });
  });
});

describe('compareStored', () => {
  const y = run(
    { inputs: { x: 'f32' } },
    ({ x }, k) => k.log(x),
    { shape: [2, 2] },
    {
      inputs: { x: new Float32Array([1, -1, 2, 0]) },
    },
  );

  it('accepts what lies inside, and NaN where it must be', () => {
    expect(compareStored(y, new Float32Array([0, nan, Math.LN2, -Infinity]))).toBeUndefined();
  });

  it('says what is wrong first, where, and what it may be', () => {
    expect(compareStored(y, new Float32Array([0, 0, 0.7, nan]))).toEqual({
      ...{ wrong: 3, total: 4, index: 1, offset: 1, got: 0, want: 'NaN' },
    });
    expect(compareStored(y, new Float32Array([0, nan, Math.LN2, nan]))?.want).toBe('-Infinity');
    expect(compareStored(y, new Float32Array([0, nan, 0.7, -Infinity]))?.want).toMatch(
      /^\[0\.69314\d+, 0\.69314\d+\]$/,
    );
  });

  it('takes NaN or a number where either may be', () => {
    const either = run(
      { inputs: { x: 'f32' } },
      ({ x }, k) => k.sqrt(k.sub(k.exp(x), 1)),
      { shape: [1] },
      {
        inputs: { x: new Float32Array([0]) },
      },
    );
    expect(either.nan[0]).toBe(NAN.maybe);
    expect(compareStored(either, new Float32Array([nan]))).toBeUndefined();
    expect(compareStored(either, new Float32Array([0.0001]))).toBeUndefined();
    expect(compareStored(either, new Float32Array([1]))?.want).toMatch(/ or NaN$/);
  });
});

describe('the share of useless intervals', () => {
  it('counts what is wider than 1 % of the largest magnitude', () => {
    const y = run(
      { inputs: { x: 'f32' } },
      // 1 + x - 1 of small x is known to one part in 2^23 of 1.
      ({ x }, k) => k.sub(k.exp(x), 1),
      { shape: [4] },
      { inputs: { x: new Float32Array([1e-6, 2e-6, 3e-6, 1e-5]) } },
    );
    expect(y.uselessShare).toBe(1);
    const beside = run(
      { inputs: { x: 'f32' } },
      ({ x }, k) => k.sub(k.exp(x), 1),
      { shape: [4] },
      {
        inputs: { x: new Float32Array([1e-6, 2e-6, 3e-6, 1]) },
      },
    );
    expect(beside.uselessShare).toBe(0);
  });
});
