import { argmax, max, mean, permute, prod, sum } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCase } from '../support/op-case.ts';

const X = numbers(2 * 3 * 4);
const at = (i: number, j: number, k: number): number => X[(i * 3 + j) * 4 + k] as number;
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const total = (values: number[]): number => values.reduce((all, value) => all + value, 0);

/** Folds along each kind of axes: last, first, several, all, of views. */
export const foldCases: readonly OpCase[] = [
  {
    name: 'sum of the last axis',
    run: (backend) => sum(tensor(backend, X, [2, 3, 4]), { axis: -1 }),
    want: over(2, (i) => over(3, (j) => total(over(4, (k) => at(i, j, k))))).flat(),
    shape: [2, 3],
  },
  {
    name: 'mean of the outer axes, kept',
    run: (backend) => mean(tensor(backend, X, [2, 3, 4]), { axis: [0, 1], keepDims: true }),
    want: over(4, (k) => total(over(2, (i) => total(over(3, (j) => at(i, j, k))))) / 6),
    shape: [1, 1, 4],
  },
  {
    name: 'max of an inner axis of a permuted view',
    run: (backend) => max(permute(tensor(backend, X, [2, 3, 4]), [2, 0, 1]), { axis: 1 }),
    want: over(4, (k) => over(3, (j) => Math.max(at(0, j, k), at(1, j, k)))).flat(),
    shape: [4, 3],
  },
  {
    name: 'argmax of everything',
    run: (backend) => argmax(tensor(backend, X, [2, 3, 4])),
    want: [X.indexOf(Math.max(...X))],
    shape: [],
  },
  {
    name: 'sum of truths, which are no u8 together',
    run: (backend) => sum(tensor(backend, new Uint8Array(1000).fill(1))),
    want: [1000],
  },
  {
    name: 'prod of nothing, and of a number',
    run: (backend) => [prod(tensor(backend, [], [0, 3]), { axis: 0 }), sum(tensor(backend, 7))],
    want: [[1, 1, 1], [7]],
    shape: [3],
  },
];
