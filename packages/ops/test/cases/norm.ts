import { l2Normalize, norm, permute } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(3 * 4 * 5);
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const column = (j: number, i: number): number[] => over(4, (r) => X[(i * 4 + r) * 5 + j] as number);
const length = (row: readonly number[]): number => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));

/** Each norm along an inner axis, of all, of nothing; vectors of length 1, also of zeros. */
export const normCases: OpCases = {
  'each norm of an inner axis; all': {
    run: (backend) => {
      const x = tensor(backend, X, [3, 4, 5]);
      return [norm(x, { axis: 1 }), norm(x, { axis: 1, ord: 1 }), norm(x, { axis: 1, ord: Infinity }), norm(x)];
    },
    want: [
      over(15, (row) => length(column(row % 5, Math.floor(row / 5)))),
      over(15, (row) => column(row % 5, Math.floor(row / 5)).reduce((sum, x) => sum + Math.abs(x), 0)),
      over(15, (row) => Math.max(...column(row % 5, Math.floor(row / 5)).map(Math.abs))),
      [length(X)],
    ],
    shape: [3, 5],
  },
  'of nothing 0; of NaN NaN': {
    run: (backend) => {
      const nothing = tensor(backend, [], [1, 0]);
      return [
        ...([1, 2, Infinity] as const).map((ord) => norm(nothing, { axis: 1, ord })),
        norm(tensor(backend, [1, NaN]), { ord: Infinity }),
      ];
    },
    want: [[0], [0], [0], [NaN]],
  },
  'of integers f32, also of the least one': {
    run: (backend) => {
      const [x, least] = [tensor(backend, Int32Array.of(3, -4)), tensor(backend, Int32Array.of(-(2 ** 31)))];
      return [
        ...([1, 2, Infinity] as const).flatMap((ord) => [norm(x, { ord }), norm(least, { ord })]),
        norm(tensor(backend, Uint8Array.of(200, 200, 200, 200))),
      ];
    },
    want: [[7], [2 ** 31], [5], [2 ** 31], [4], [2 ** 31], [400]],
  },
  'vectors of length 1, along an axis of a view and along two': {
    run: (backend) => {
      const x = tensor(backend, X, [3, 4, 5]);
      return [l2Normalize(permute(x, [0, 2, 1])), l2Normalize(x, { axis: [1, 2] })];
    },
    want: [
      over(15, (row) => column(row % 5, Math.floor(row / 5))).flatMap((row) => row.map((x) => x / length(row))),
      over(3, (i) => X.slice(i * 20, i * 20 + 20)).flatMap((row) => row.map((x) => x / length(row))),
    ],
    shape: [3, 5, 4],
  },
  'zeros stay zeros, what is shorter than eps is divided by eps': {
    run: (backend) => l2Normalize(tensor(backend, [0, 0, 0.5, 0], [2, 2]), { eps: 2 }),
    want: [0, 0, 0.25, 0],
  },
};
