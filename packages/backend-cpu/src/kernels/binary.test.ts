import { describe, expect, it } from 'vitest';
import { binary } from './binary.ts';

type Op = Parameters<typeof binary>[0]['op'];

function run(op: Op, a: readonly number[], b: readonly number[]): number[] {
  const data = Float32Array.from(a);
  binary({ op, n: a.length, dtype: 'f32', operands: [] }, data, Float32Array.from(b), data);
  return Array.from(data, (x) => x + 0);
}

describe('binary', () => {
  it('computes all seven', () => {
    const a = [6, -3, 0.5];
    const b = [4, 2, -8];
    const want: Record<Op, number[]> = {
      add: [10, -1, -7.5],
      sub: [2, -5, 8.5],
      mul: [24, -6, -4],
      div: [1.5, -1.5, -0.0625],
      max: [6, 2, 0.5],
      min: [4, -3, -8],
      pow: [1296, 9, 256],
    };
    for (const [op, values] of Object.entries(want)) expect(run(op as Op, a, b), op).toEqual(values);
  });

  it('keeps NaN in max and min, from either side', () => {
    for (const op of ['max', 'min'] as const) expect(run(op, [NaN, 1, NaN], [1, NaN, NaN])).toEqual([NaN, NaN, NaN]);
  });

  it('has the pow of C99', () => {
    expect(run('pow', [1, 1, -1, -1, NaN, 2], [NaN, Infinity, Infinity, -Infinity, 0, NaN])).toEqual([
      1,
      1,
      1,
      1,
      1,
      NaN,
    ]);
    expect(run('pow', [-8, 0, 0, -2], [1 / 3, -1, 0, 3])).toEqual([NaN, Infinity, 1, -8]);
  });

  it('divides by zero and overflows as IEEE 754 says', () => {
    expect(run('div', [1, -1, 0], [0, 0, 0])).toEqual([Infinity, -Infinity, NaN]);
    expect(run('mul', [1e30, 1e-30], [1e30, 1e-10])).toEqual([Infinity, 1e-40].map(Math.fround));
  });
});
