import { permute, topK, type Tensor } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 7 * 3);
const both = ({ values, indices }: { values: Tensor; indices: Tensor }): Tensor[] => [values, indices];
/** Along the middle axis of `[2, 7, 3]`: the places of the k best, laid out as `[2, k, 3]`. */
function best(k: number, largest: boolean): number[] {
  const result: number[] = [];
  for (const i of [0, 1]) {
    for (const j of [0, 1, 2]) {
      const at = (place: number): number => X[(i * 7 + place) * 3 + j] as number;
      const sorted = [0, 1, 2, 3, 4, 5, 6].sort((a, b) => (largest ? at(b) - at(a) : at(a) - at(b)));
      for (let place = 0; place < k; place++) result[(i * k + place) * 3 + j] = sorted[place] as number;
    }
  }
  return result;
}
const valuesOf = (places: readonly number[], k: number): number[] =>
  places.map((place, n) => X[(Math.floor(n / (3 * k)) * 7 + place) * 3 + (n % 3)] as number);

/** The best along each kind of axis, ties, NaN, narrow types, edges of k. */
export const topKCases: OpCases = {
  'the greatest of an inner axis': {
    run: (backend) => both(topK(tensor(backend, X, [2, 7, 3]), 3, { axis: 1 })),
    want: [valuesOf(best(3, true), 3), best(3, true)],
    shape: [2, 3, 3],
  },
  'the least, all of them, of the last axis of a permuted view': {
    run: (backend) => {
      const { values, indices } = topK(permute(tensor(backend, X, [2, 7, 3]), [2, 0, 1]), 7, { largest: false });
      return [permute(values, [1, 2, 0]), permute(indices, [1, 2, 0])];
    },
    want: [valuesOf(best(7, false), 7), best(7, false)],
    shape: [2, 7, 3],
  },
  'of equals the lower index first, NaN before Infinity; of a list': {
    run: (backend) => both(topK(tensor(backend, [1, 3, NaN, 3, Infinity, 1]), 5)),
    want: [
      [NaN, Infinity, 3, 3, 1],
      [2, 4, 1, 3, 0],
    ],
  },
  'of f16 the values are f16': {
    run: (backend) => both(topK(tensor(backend, [1, 65504, 2 ** -24], [3], { dtype: 'f16' }), 2)),
    want: [
      [65504, 1],
      [1, 0],
    ],
    tolerance: 0,
  },
  'none of some, none of nothing': {
    run: (backend) => [
      ...both(topK(tensor(backend, X, [2, 7, 3]), 0)),
      ...both(topK(tensor(backend, [], [2, 0]), 0)),
      ...both(topK(tensor(backend, [], [0, 2]), 1)),
    ],
    want: [[], [], [], [], [], []],
    shape: [2, 7, 0],
  },
};
