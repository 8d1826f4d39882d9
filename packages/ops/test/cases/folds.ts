import { defineKernel } from '@concord/backend-core/kernel';
import * as ops from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 3 * 4);
const at = (i: number, j: number, k: number): number => X[(i * 3 + j) * 4 + k] as number;
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const total = (values: number[]): number => values.reduce((all, value) => all + value, 0);

const SHARE = defineKernel('share', { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } } }, ({ x, r }, k) => {
  const total = k.fold('sum', x);
  return { y: k.sub(k.mul(x, 3), total), s: k.sub(total, r) };
});

/** Folds along each kind of axes: last, first, several, all, of views. */
export const foldCases: OpCases = {
  'sum of the last axis': {
    run: (backend) => ops.sum(tensor(backend, X, [2, 3, 4]), { axis: -1 }),
    want: over(2, (i) => over(3, (j) => total(over(4, (k) => at(i, j, k))))).flat(),
    shape: [2, 3],
  },
  'mean of the outer axes, kept': {
    run: (backend) => ops.mean(tensor(backend, X, [2, 3, 4]), { axis: [0, 1], keepDims: true }),
    want: over(4, (k) => total(over(2, (i) => total(over(3, (j) => at(i, j, k))))) / 6),
    shape: [1, 1, 4],
  },
  'max of an inner axis of a permuted view': {
    run: (backend) => ops.max(ops.permute(tensor(backend, X, [2, 3, 4]), [2, 0, 1]), { axis: 1 }),
    want: over(4, (k) => over(3, (j) => Math.max(at(0, j, k), at(1, j, k)))).flat(),
    shape: [4, 3],
  },
  'argmax of everything': {
    run: (backend) => ops.argmax(tensor(backend, X, [2, 3, 4])),
    want: [X.indexOf(Math.max(...X))],
    shape: [],
  },
  'sum of truths, which are no u8 together': {
    run: (backend) => ops.sum(tensor(backend, new Uint8Array(1000).fill(1))),
    want: [1000],
  },
  'prod of nothing, and of a number': {
    run: (backend) => [ops.prod(tensor(backend, [], [0, 3]), { axis: 0 }), ops.sum(tensor(backend, 7))],
    want: [[1, 1, 1], [7]],
    shape: [3],
  },
  'along no axis each element is a row of one': {
    run: (backend) => {
      const x = ops.permute(tensor(backend, X, [2, 3, 4]), [2, 0, 1]);
      const options = { axis: [], keepDims: true };
      return [
        ...[
          ops.mean(x, options),
          ops.sum(x, { axis: [] }),
          ops.logSumExp(x, options),
          ops.argmax(x, options),
          ops.all(x, options),
        ],
        ...[
          ops.std(x, { axis: [], correction: 0 }),
          ops.softmax(x, { axis: [] }),
          ops.sum(tensor(backend, 7), options),
        ],
      ];
    },
    want: [
      ...over(3, () => over(4, (k) => over(6, (row) => X[row * 4 + k] as number)).flat()),
      ...[0, 1, 0, 1].map((each) => over(24, () => each)),
      [7],
    ],
    shape: [4, 2, 3],
  },
  'along no axis of eight, of a view, into out': {
    run: (backend) => {
      const x = ops.permute(ops.unsqueeze(tensor(backend, X, [2, 1, 3, 1, 2, 1, 2]), 3), [5, 1, 0, 3, 4, 2, 6, 7]);
      const out = ops.permute(ops.empty(backend, [1, 2, 1, 1, 3, 1, 2, 2]), [6, 0, 1, 2, 3, 4, 5, 7]);
      return [
        ops.sum(x, { axis: [], out }),
        ops.mean(x, { axis: [] }),
        ops.softmax(x, { axis: [] }),
        ops.argmax(x, { axis: [] }),
      ];
    },
    want: (() => {
      const x = over(
        24,
        (n) =>
          X[(Math.floor(n / 6) % 2) * 12 + (Math.floor(n / 2) % 3) * 4 + Math.floor(n / 12) * 2 + (n % 2)] as number,
      );
      return [x, x, x.map(() => 1), x.map(() => 0)];
    })(),
    shape: [2, 1, 2, 1, 1, 3, 1, 2],
  },
  'a kernel along no axis, with an input and an output of rows': {
    run: (backend) => {
      const x = ops.permute(tensor(backend, X, [2, 3, 4]), [2, 0, 1]);
      const { y, s } = ops.run(SHARE, { x, r: tensor(backend, X, [4, 2, 3]) }, { axis: [] });
      return [y, s];
    },
    want: (() => {
      const x = over(4, (k) => over(6, (row) => X[row * 4 + k] as number)).flat();
      return [x.map((each) => each * 2), x.map((each, place) => each - (X[place] as number))];
    })(),
    shape: [4, 2, 3],
  },
  'means of integers are f32, also of sums beyond 32 bits': {
    run: (backend) => [
      ops.mean(tensor(backend, Int8Array.of(-1, 2, 3, 1, 1, 0), [2, 3]), { axis: 1 }),
      ops.mean(tensor(backend, Uint8Array.of(255, 254))),
      ops.mean(tensor(backend, Int32Array.of(-(2 ** 31), 2 ** 30), [2, 1]), { axis: 0 }),
      ops.mean(tensor(backend, Uint32Array.of(2 ** 32 - 256, 2 ** 32 - 256, 2 ** 31))),
    ],
    want: [[4 / 3, 2 / 3], [254.5], [-(2 ** 29)], [(2 * (2 ** 32 - 256) + 2 ** 31) / 3]],
    shape: [2],
  },
};
