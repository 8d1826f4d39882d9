import { describe, expect, it } from 'vitest';
import { unary } from './unary.ts';

type Op = Parameters<typeof unary>[0]['op'];

function run(op: Op, values: readonly number[]): number[] {
  const data = Float32Array.from(values);
  unary({ op, n: values.length, dtype: 'f32', operands: [] }, data, data);
  return Array.from(data, (x) => x + 0);
}

describe('unary', () => {
  it('has the special values of its functions', () => {
    const special = [-Infinity, 0, Infinity, Number.NaN];
    const want: Record<Op, number[]> = {
      relu: [0, 0, Infinity, NaN],
      sigmoid: [0, 0.5, 1, NaN],
      tanh: [-1, 0, 1, NaN],
      exp: [0, 1, Infinity, NaN],
      log: [NaN, -Infinity, Infinity, NaN],
      sqrt: [NaN, 0, Infinity, NaN],
      abs: [Infinity, 0, Infinity, NaN],
      neg: [Infinity, 0, -Infinity, NaN],
      gelu: [0, 0, Infinity, NaN],
      silu: [0, 0, Infinity, NaN],
    };
    for (const [op, values] of Object.entries(want)) expect(run(op as Op, special), op).toEqual(values);
  });

  it('is right on both sides, in the far tail and for subnormals', () => {
    expect(run('relu', [-2, 3, 1e-45])).toEqual([0, 3, 1e-45].map(Math.fround));
    expect(run('gelu', [-1, 1, 100, 1e-44])).toEqual(
      [-0.15865525393145707, 0.8413447460685429, 100, 5e-45].map(Math.fround),
    );
    // -10 Phi(-10) and -13 Phi(-13), the second one a subnormal.
    expect(run('gelu', [-10])).toEqual([Math.fround(-7.619853e-23)]);
    expect(run('gelu', [-13])[0]).toBeCloseTo(0, 30);
    expect(run('silu', [-1, 1, 200])).toEqual([-1 / (1 + Math.E), 1 / (1 + 1 / Math.E), 200].map(Math.fround));
    expect(run('sigmoid', [-100, 100])).toEqual([Math.exp(-100), 1].map(Math.fround));
    expect(run('sqrt', [4, -1])).toEqual([2, NaN]);
    expect(run('log', [1, -1])).toEqual([0, NaN]);
    expect(run('neg', [1, -2])).toEqual([-1, 2]);
  });

  it('lets every NaN through relu, also those with the sign set', () => {
    for (const bits of [0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0xffffffff]) {
      const data = new Float32Array(Uint32Array.of(bits).buffer);
      unary({ op: 'relu', n: 1, dtype: 'f32', operands: [] }, data, data);
      expect(data[0]).toBeNaN();
    }
    expect(run('relu', [-Infinity, -3.4e38, -1e-45, -0, 0, 1e-45, Infinity])).toEqual([
      0,
      0,
      0,
      0,
      0,
      1.401298464324817e-45,
      Infinity,
    ]);
  });

  it('leaves what lies behind n alone', () => {
    const output = Float32Array.of(7, 7, 7);
    unary({ op: 'abs', n: 2, dtype: 'f32', operands: [] }, Float32Array.of(-1, -2), output);
    expect([...output]).toEqual([1, 2, 7]);
  });
});
