import { binaryKernel, unaryKernel } from '@concord/backend-core/kernel';
import { describe, expect, it } from 'vitest';
import { run } from '../support/run.ts';

type UnaryOp = Parameters<typeof unaryKernel>[0];
type BinaryOp = Parameters<typeof binaryKernel>[0];

/** In place. */
function unary(op: UnaryOp, values: readonly number[]): number[] {
  const data = Float32Array.from(values);
  run(unaryKernel(op), { shape: [values.length], inputs: { input: data }, outputs: { output: data } });
  return Array.from(data, (x) => x + 0);
}

function binary(op: BinaryOp, a: readonly number[], b: readonly number[]): number[] {
  const data = Float32Array.from(a);
  const inputs = { a: data, b: Float32Array.from(b) };
  run(binaryKernel(op), { shape: [a.length], inputs, outputs: { output: data } });
  return Array.from(data, (x) => x + 0);
}

describe('functions of one number', () => {
  it('have their special values', () => {
    const special = [-Infinity, 0, Infinity, Number.NaN];
    const want: Record<UnaryOp, number[]> = {
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
    for (const [op, values] of Object.entries(want)) expect(unary(op as UnaryOp, special), op).toEqual(values);
  });

  it('are right on both sides, in the far tail and for subnormals', () => {
    expect(unary('relu', [-2, 3, 1e-45])).toEqual([0, 3, 1e-45].map(Math.fround));
    expect(unary('gelu', [-1, 1, 100, 1e-44])).toEqual(
      [-0.15865525393145707, 0.8413447460685429, 100, 5e-45].map(Math.fround),
    );
    // -10 Phi(-10) and -13 Phi(-13), the second one a subnormal.
    expect(unary('gelu', [-10])).toEqual([Math.fround(-7.619853e-23)]);
    expect(unary('gelu', [-13])[0]).toBeCloseTo(0, 30);
    expect(unary('silu', [-1, 1, 200])).toEqual([-1 / (1 + Math.E), 1 / (1 + 1 / Math.E), 200].map(Math.fround));
    expect(unary('sigmoid', [-100, 100])).toEqual([Math.exp(-100), 1].map(Math.fround));
    expect(unary('sqrt', [4, -1])).toEqual([2, NaN]);
    expect(unary('log', [1, -1])).toEqual([0, NaN]);
    expect(unary('neg', [1, -2])).toEqual([-1, 2]);
  });

  it('let every NaN through relu, also those with the sign set', () => {
    for (const bits of [0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0xffffffff]) {
      const data = new Float32Array(Uint32Array.of(bits).buffer);
      run(unaryKernel('relu'), { shape: [1], inputs: { input: data }, outputs: { output: data } });
      expect(data[0]).toBeNaN();
    }
    const limits = [-Infinity, -3.4e38, -1e-45, -0, 0, 1e-45, Infinity];
    expect(unary('relu', limits)).toEqual([0, 0, 0, 0, 0, 1.401298464324817e-45, Infinity]);
  });

  it('leave what lies after it alone', () => {
    const output = Float32Array.of(7, 7, 7);
    run(unaryKernel('abs'), { shape: [2], inputs: { input: Float32Array.of(-1, -2) }, outputs: { output } });
    expect([...output]).toEqual([1, 2, 7]);
  });
});

describe('functions of two numbers', () => {
  it('are all seven there', () => {
    const a = [6, -3, 0.5];
    const b = [4, 2, -8];
    const want: Record<BinaryOp, number[]> = {
      add: [10, -1, -7.5],
      sub: [2, -5, 8.5],
      mul: [24, -6, -4],
      div: [1.5, -1.5, -0.0625],
      max: [6, 2, 0.5],
      min: [4, -3, -8],
      pow: [1296, 9, 256],
    };
    for (const [op, values] of Object.entries(want)) expect(binary(op as BinaryOp, a, b), op).toEqual(values);
  });

  it('keep NaN in max and min, from either side', () => {
    for (const op of ['max', 'min'] as const) expect(binary(op, [NaN, 1, NaN], [1, NaN, NaN])).toEqual([NaN, NaN, NaN]);
  });

  it('have the pow of C99', () => {
    const [x, y] = [
      [1, 1, -1, -1, NaN, 2],
      [NaN, Infinity, Infinity, -Infinity, 0, NaN],
    ];
    expect(binary('pow', x, y)).toEqual([1, 1, 1, 1, 1, NaN]);
    expect(binary('pow', [-8, 0, 0, -2], [1 / 3, -1, 0, 3])).toEqual([NaN, Infinity, 1, -8]);
  });

  it('divide by zero and overflow as IEEE 754 says', () => {
    expect(binary('div', [1, -1, 0], [0, 0, 0])).toEqual([Infinity, -Infinity, NaN]);
    expect(binary('mul', [1e30, 1e-30], [1e30, 1e-10])).toEqual([Infinity, 1e-40].map(Math.fround));
  });
});
