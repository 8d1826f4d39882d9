import { argsort, gatherNd, permute, sort, topK } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 5 * 3);

/** The middle axis of `[2, 5, 3]` in order. */
function sorted(descending: boolean): number[] {
  const y = [...X];
  for (const i of [0, 1]) {
    for (const j of [0, 1, 2]) {
      const at = (place: number): number => (i * 5 + place) * 3 + j;
      const column = [0, 1, 2, 3, 4]
        .map((place) => X[at(place)] as number)
        .sort((a, b) => (descending ? b - a : a - b));
      column.forEach((value, place) => (y[at(place)] = value));
    }
  }
  return y;
}

const MANY = Array.from({ length: 3001 }, (_, n) => ((n * 7919) % 1013) - 500);
/** Stable, as Array.prototype.sort is. */
const orderOf = (values: readonly number[], descending: boolean): number[] =>
  [...values.keys()].sort((a, b) => ((values[a] as number) - (values[b] as number)) * (descending ? -1 : 1));
const take = (values: readonly number[], places: readonly number[]): number[] =>
  places.map((place) => values[place] as number);

/** Each dtype, special values, stability, both directions, rows of thousands; topK beyond the primitive; places of several indices. */
export const sortCases: OpCases = {
  'an inner axis, both directions; a permuted view': {
    run: (backend) => {
      const x = tensor(backend, X, [2, 5, 3]);
      return [
        sort(x, { axis: 1 }),
        sort(x, { axis: 1, descending: true }),
        permute(sort(permute(x, [2, 0, 1])), [1, 2, 0]),
      ];
    },
    want: [sorted(false), sorted(true), sorted(false)],
    shape: [2, 5, 3],
    tolerance: 0,
  },
  'NaN, infinities, both zeros; integers of both signs; narrow dtypes': {
    run: (backend) => {
      const special = [NaN, 1, -0, Infinity, 0, -Infinity, -1, NaN, 2 ** -149, -(2 ** -149)];
      return [
        argsort(tensor(backend, special)),
        argsort(tensor(backend, special), { descending: true }),
        sort(tensor(backend, new Int32Array([5, -(2 ** 31), 2 ** 31 - 1, -1, 0]))),
        sort(tensor(backend, new Uint32Array([5, 2 ** 32 - 1, 0, 2 ** 31])), { descending: true }),
        sort(tensor(backend, new Int8Array([5, -128, 127, -1, 0]))),
        sort(tensor(backend, new Uint8Array([5, 255, 0, 128]))),
        sort(tensor(backend, [1, -65504, 2 ** -24, 1.0009765625, -Infinity], [5], { dtype: 'f16' })),
        sort(tensor(backend, [3, -1.5, 2 ** 100], [3], { dtype: 'bf16' })),
        sort(tensor(backend, [], [0])),
        sort(tensor(backend, [7])),
      ];
    },
    want: [
      [5, 6, 9, 2, 4, 8, 1, 3, 0, 7],
      [0, 7, 3, 1, 8, 2, 4, 9, 6, 5],
      [-(2 ** 31), -1, 0, 5, 2 ** 31 - 1],
      [2 ** 32 - 1, 2 ** 31, 5, 0],
      [-128, -1, 0, 5, 127],
      [0, 5, 128, 255],
      [-Infinity, -65504, 2 ** -24, 1, 1.0009765625],
      [-1.5, 3, 2 ** 100].map((value) => Math.fround(value)),
      [],
      [7],
    ],
    tolerance: 0,
  },
  'thousands with many equals keep their order; topK of integers': {
    run: (backend) => {
      const x = tensor(backend, new Int32Array(MANY));
      const { values, indices } = topK(x, 2000);
      const least = topK(tensor(backend, new Uint8Array([3, 1, 2, 1])), 2, { largest: false });
      return [argsort(x), argsort(x, { descending: true }), values, indices, least.values, least.indices];
    },
    want: [
      orderOf(MANY, false),
      orderOf(MANY, true),
      take(MANY, orderOf(MANY, true)).slice(0, 2000),
      orderOf(MANY, true).slice(0, 2000),
      [1, 1],
      [1, 3],
    ],
    tolerance: 0,
  },
  'topK of more than the primitive takes': {
    run: (backend) => {
      const columns = backend.capabilities.limits.maxTopK + 3;
      const last = columns - 1;
      const { values, indices } = topK(
        tensor(
          backend,
          Array.from({ length: columns }, (_, n) => n),
        ),
        columns,
      );
      return [
        gatherNd(values, tensor(backend, new Int32Array([last]), [1, 1])),
        gatherNd(indices, tensor(backend, new Int32Array([last]), [1, 1])),
      ];
    },
    want: [[0], [0]],
    tolerance: 0,
  },
  'gatherNd of elements, rows and outside': {
    run: (backend) => {
      const x = tensor(backend, [1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2]);
      return [
        gatherNd(x, tensor(backend, new Int32Array([1, 0, 1, 0, 1, 0]), [2, 3])),
        gatherNd(x, tensor(backend, new Uint32Array([1, 0, 0, 1]), [2, 2])),
        gatherNd(x, tensor(backend, new Int32Array([1, 2, -1]), [3, 1])),
      ];
    },
    want: [
      [6, 3],
      [5, 6, 3, 4],
      [5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0],
    ],
    tolerance: 0,
  },
};
