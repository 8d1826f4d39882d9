import { logSoftmax, logSumExp, permute, softmax } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 3 * 5).map((x) => 4 * x);
const logSum = (row: readonly number[]): number => Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));
const rows = (length: number): number[][] =>
  Array.from({ length: X.length / length }, (_, row) => X.slice(row * length, (row + 1) * length));
/** The rows along the middle axis of `[2, 3, 5]`, and where each of their elements lies. */
const middle = [0, 1].flatMap((i) => [0, 1, 2, 3, 4].map((k) => [0, 1, 2].map((j) => (i * 3 + j) * 5 + k)));
const alongMiddle = (each: (x: number, row: readonly number[]) => number): number[] => {
  const result: number[] = [];
  for (const places of middle) {
    const row = places.map((place) => X[place] as number);
    for (const place of places) result[place] = each(X[place] as number, row);
  }
  return result;
};
const EDGES = [
  [1000, 1000],
  [-Infinity, 0],
  [-Infinity, -Infinity],
  [Infinity, 1],
  [NaN, 1],
];

/** Along the last axis, an inner one, several; what would overflow; infinities and NaN. */
export const softmaxCases: OpCases = {
  'softmax of the last axis, and of one': {
    run: (backend) => [softmax(tensor(backend, X, [2, 3, 5])), softmax(tensor(backend, [[5], [-Infinity]]))],
    want: [rows(5).flatMap((row) => row.map((x) => Math.exp(x - logSum(row)))), [1, NaN]],
    shape: [2, 3, 5],
  },
  'softmax of axes with another one between them': {
    run: (backend) => softmax(tensor(backend, X, [2, 3, 5]), { axis: [0, 2] }),
    want: X.map((x, at) => {
      const row = Math.floor(at / 5) % 3;
      return Math.exp(x - logSum(X.filter((_, other) => Math.floor(other / 5) % 3 === row)));
    }),
  },
  'softmax and logSoftmax of an inner axis': {
    run: (backend) => {
      const x = tensor(backend, X, [2, 3, 5]);
      return [softmax(x, { axis: 1 }), logSoftmax(x, { axis: -2 })];
    },
    want: [alongMiddle((x, row) => Math.exp(x - logSum(row))), alongMiddle((x, row) => x - logSum(row))],
  },
  'softmax of two axes of a permuted view, in place': {
    run: (backend) => {
      const view = permute(tensor(backend, X, [2, 3, 5]), [2, 0, 1]);
      return permute(softmax(view, { axis: [0, 2], out: view }), [1, 2, 0]);
    },
    want: rows(15).flatMap((row) => row.map((x) => Math.exp(x - logSum(row)))),
    shape: [2, 3, 5],
  },
  'softmax of f16 is computed in float32': {
    run: (backend) => softmax(tensor(backend, [60000, 60000, -60000], [3], { dtype: 'f16' })),
    want: [0.5, 0.5, 0],
  },
  'large numbers, infinities, NaN': {
    run: (backend) => {
      const x = tensor(backend, EDGES);
      return [softmax(x), logSoftmax(x), logSumExp(x, { axis: 1 })];
    },
    want: [
      [0.5, 0.5, 0, 1, NaN, NaN, NaN, NaN, NaN, NaN],
      [-Math.LN2, -Math.LN2, -Infinity, 0, NaN, NaN, NaN, NaN, NaN, NaN],
      [1000 + Math.LN2, 0, -Infinity, Infinity, NaN],
    ],
  },
  'logSumExp of two axes, kept; of nothing': {
    run: (backend) => [
      logSumExp(tensor(backend, X, [2, 3, 5]), { axis: [1, 2], keepDims: true }),
      logSumExp(tensor(backend, [], [2, 0]), { axis: 1 }),
    ],
    want: [rows(15).map(logSum), [-Infinity, -Infinity]],
    shape: [2, 1, 1],
  },
};
