import { full, less, permute, std, variance } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { farNumbers, momentsOf, numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(3 * 4 * 5);
const FAR = farNumbers(2 ** 20);
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const at = (i: number, j: number, k: number): number => X[(i * 4 + j) * 5 + k] as number;
const varianceOf = (row: readonly number[], correction = 1): number => {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  return row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (row.length - correction);
};

/** Each kind of axes, each correction, what would cancel, too few elements. */
export const varianceCases: OpCases = {
  'of the last axis, of two of a permuted view, of all': {
    run: (backend) => {
      const x = tensor(backend, X, [3, 4, 5]);
      return [
        variance(x, { axis: -1, keepDims: true }),
        variance(permute(x, [2, 0, 1]), { axis: [0, 2], correction: 0 }),
        std(x),
        std(x, { axis: 0, correction: 0.5 }),
      ];
    },
    want: [
      over(12, (row) => varianceOf(X.slice(row * 5, row * 5 + 5))),
      over(3, (i) => varianceOf(X.slice(i * 20, i * 20 + 20), 0)),
      [Math.sqrt(varianceOf(X))],
      over(20, (place) =>
        Math.sqrt(
          varianceOf(
            over(3, (i) => at(i, Math.floor(place / 5), place % 5)),
            0.5,
          ),
        ),
      ),
    ],
    shape: [3, 4, 1],
  },
  // The difference of the mean of the squares and the square of the mean would be 0, or negative.
  'numbers that are far from 0': {
    run: (backend) => variance(tensor(backend, [10000, 10001, 10002, 10003])),
    want: [5 / 3],
  },
  'a million numbers that are far from 0': {
    run: (backend) => {
      const x = tensor(backend, FAR);
      return [variance(x, { correction: 0 }), std(x, { correction: 0 })];
    },
    want: [[momentsOf(FAR).variance], [Math.sqrt(momentsOf(FAR).variance)]],
  },
  // What rounding leaves of them must not be a negative number under the root.
  'equal numbers that are far from 0': {
    run: (backend) => {
      const x = full(backend, [8, 2 ** 12], 123456.789);
      return less(std(x, { axis: 1 }), 0.5);
    },
    want: [1, 1, 1, 1, 1, 1, 1, 1],
  },
  'of one element, of a number, of nothing; of f16': {
    run: (backend) => [
      variance(tensor(backend, [[2], [3]]), { axis: 1 }),
      variance(tensor(backend, 4), { correction: 0 }),
      std(tensor(backend, [], [2, 0]), { axis: 1 }),
      std(tensor(backend, [0, 1000], [2], { dtype: 'f16' }), { correction: 0 }),
    ],
    want: [[NaN, NaN], [0], [NaN, NaN], [500]],
  },
};
