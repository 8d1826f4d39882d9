import { argmax, empty, permute, takeAlongAxis } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 4 * 3);
const at = (i: number, j: number, k: number): number => X[(i * 4 + j) * 3 + k] as number;
const over = <T>(length: number, each: (index: number) => T): T[] => Array.from({ length }, (_, index) => each(index));
const PLACES = [0, 3, -1, -4, 2, 1, 1, 0, 3, 4, 0, 2];

/** Each axis, indices outside, broadcasting, many axes. */
export const takeAlongAxisCases: OpCases = {
  'an inner axis, some indices outside': {
    run: (backend) =>
      takeAlongAxis(tensor(backend, X, [2, 4, 3]), tensor(backend, new Int32Array(PLACES), [2, 2, 3]), 1),
    want: PLACES.map((place, n) => (place < 0 || place > 3 ? 0 : at(Math.floor(n / 6), place, n % 3))),
    shape: [2, 2, 3],
    tolerance: 0,
  },
  'what argmax names, of a permuted view, into a permuted out': {
    run: (backend) => {
      const x = permute(tensor(backend, X, [2, 4, 3]), [2, 0, 1]);
      const out = permute(empty(backend, [2, 1, 3]), [2, 0, 1]);
      return takeAlongAxis(x, argmax(x, { axis: -1, keepDims: true }), -1, { out });
    },
    want: over(3, (k) => over(2, (i) => Math.max(...over(4, (j) => at(i, j, k))))).flat(),
    shape: [3, 2, 1],
    tolerance: 0,
  },
  'indices outside read as 0; u32 indices': {
    run: (backend) => [
      takeAlongAxis(tensor(backend, [1, 2, 3]), tensor(backend, new Int32Array([3, -3, -4, 2, -(2 ** 31)])), 0),
      takeAlongAxis(
        tensor(backend, new Int8Array([1, 2, 3])),
        tensor(backend, new Uint32Array([3, 2, 2 ** 32 - 1, 0])),
        0,
      ),
    ],
    want: [
      [0, 0, 0, 3, 0],
      [0, 3, 0, 1],
    ],
  },
  'both broadcast: a column of indices and one row': {
    run: (backend) => [
      takeAlongAxis(tensor(backend, X, [2, 4, 3]), tensor(backend, new Uint8Array([2]), [1, 1, 1]), 1),
      takeAlongAxis(tensor(backend, [[5, 6, 7]]), tensor(backend, new Uint8Array([0, 2, 1]), [3, 1]), 1),
    ],
    want: [over(6, (n) => at(Math.floor(n / 3), 2, n % 3)), [5, 7, 6]],
    shape: [2, 1, 3],
    tolerance: 0,
  },
  // More axes than a gather input has: those around the axis are taken together.
  'six axes, f16, of a permuted view': {
    run: (backend) => {
      const x = permute(tensor(backend, X, [2, 1, 2, 2, 1, 3], { dtype: 'f16' }), [0, 3, 1, 5, 4, 2]);
      return takeAlongAxis(x, tensor(backend, new Int32Array([2, 0]), [1, 1, 1, 2, 1, 1]), 3);
    },
    want: over(2, (i) => over(2, (b) => [2, 0].map((k) => over(2, (a) => at(i, 2 * a + b, k))))).flat(3),
    shape: [2, 2, 1, 2, 1, 2],
    tolerance: 2 ** -11,
  },
};
