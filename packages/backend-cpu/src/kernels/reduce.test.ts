import { describe, expect, it } from 'vitest';
import { reduce } from './reduce.ts';

const OPS = ['sum', 'max', 'min', 'mean'] as const;
const integers = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => ((i * 7919 + 5) % 31) - 15);

function run(
  op: (typeof OPS)[number],
  outer: number,
  axisLength: number,
  inner: number,
  input: Float32Array,
): number[] {
  const output = new Float32Array(outer * inner).fill(123);
  reduce({ op, outer, axisLength, inner, dtype: 'f32', operands: [] }, input, output);
  return [...output];
}

describe('reduce', () => {
  it('reduces along the middle of any shape', () => {
    for (const outer of [1, 3]) {
      for (const length of [1, 2, 3, 4, 5, 8, 33]) {
        for (const inner of [1, 2, 7, 8, 9, 1025]) {
          const input = integers(outer * length * inner);
          for (const op of OPS) {
            const want = Array.from({ length: outer * inner }, (_, at) => {
              const first = Math.floor(at / inner) * length * inner + (at % inner);
              const values = Array.from({ length }, (_value, a) => input[first + a * inner] as number);
              const sum = values.reduce((x, y) => x + y, 0);
              if (op === 'max') return Math.max(...values);
              if (op === 'min') return Math.min(...values);
              return Math.fround(op === 'sum' ? sum : sum / length);
            });
            // -0 is 0.
            expect(run(op, outer, length, inner, input).map((x) => x + 0)).toEqual(want.map((x) => x + 0));
          }
        }
      }
    }
  });

  it('gives an empty axis its neutral elements', () => {
    for (const inner of [1, 9]) {
      const results = OPS.map((op) => run(op, 2, 0, inner, new Float32Array(0))[2 * inner - 1]);
      expect(results).toEqual([0, -Infinity, Infinity, NaN]);
    }
  });

  it('lets NaN through from anywhere, into its own result only', () => {
    for (const op of OPS) {
      for (const inner of [1, 9]) {
        for (let at = 0; at < 7; at++) {
          const input = integers(14 * inner);
          input[at * inner] = Number.NaN;
          const output = run(op, 2, 7, inner, input);
          expect(output.map(Number.isNaN)).toEqual(output.map((_, i) => i === 0));
        }
      }
    }
  });

  it('sums in more than float32', () => {
    const input = new Float32Array(100_001).fill(2 ** -24);
    input[0] = 1;
    expect(run('sum', 1, input.length, 1, input)).toEqual([Math.fround(1 + 100_000 * 2 ** -24)]);
  });
});
