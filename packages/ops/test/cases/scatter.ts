import { expand, indexPut, permute, scatter, scatterAdd, sub, type Tensor } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(3 * 4 * 2);
const V = numbers(3 * 3 * 2);
/** Distinct along axis 1, some negative and others outside. */
const PLACES = [0, 3, 2, 1, -1, 0, 1, 2, 9, 3, -4, -9, 2, 0, 3, 1, 1, -1];

/** The same by loops. */
function byLoops(mode: 'set' | 'add'): number[] {
  const y = [...X];
  PLACES.forEach((place, n) => {
    const [i, k] = [Math.floor(n / 6), n % 2];
    if (place < 0 || place >= 4) return;
    const at = (i * 4 + place) * 2 + k;
    y[at] = (mode === 'add' ? (y[at] as number) : 0) + (V[n] as number);
  });
  return y;
}

const MANY = numbers(150 * 2);
/** Many times the first of two rows, now and then the second, once none. */
const BINS = Uint8Array.from({ length: 150 }, (_, n) => (n === 70 ? 2 : n % 9 === 4 ? 1 : 0));

function binsByLoops(): number[] {
  const y = [1, 2, 3, 4];
  for (const [n, bin] of BINS.entries()) {
    for (const c of [0, 1]) if (bin < 2) y[bin * 2 + c] = (y[bin * 2 + c] as number) + (MANY[n * 2 + c] as number);
  }
  return y;
}

/** Axes, indices outside, duplicates of sums, dtypes, places of several axes. */
export const scatterCases: OpCases = {
  'an inner axis, in a new tensor and in place': {
    run: (backend) => {
      const [x, own] = [tensor(backend, X, [3, 4, 2]), tensor(backend, X, [3, 4, 2])];
      const [indices, values] = [tensor(backend, new Int32Array(PLACES), [3, 3, 2]), tensor(backend, V, [3, 3, 2])];
      return [scatter(x, 1, indices, values), scatter(own, -2, indices, values, { out: own }), x];
    },
    want: [byLoops('set'), byLoops('set'), X],
    shape: [3, 4, 2],
    tolerance: 0,
  },
  'sums of several values for one element; integers, f16': {
    run: (backend) => {
      const indices = tensor(backend, new Uint32Array([1, 1, 0, 1, 7]));
      return [
        scatterAdd(tensor(backend, [1, 2, 3]), 0, indices, tensor(backend, [10, 20, 30, 40, 50])),
        scatterAdd(
          tensor(backend, new Int32Array([1, 2, 3])),
          0,
          indices,
          tensor(backend, new Int32Array([1, 2, 3, 4, 5])),
        ),
        scatterAdd(
          tensor(backend, new Int8Array([100, 100, -100])),
          0,
          indices,
          tensor(backend, new Int8Array([100, 50, -100, 7, 5])),
        ),
        scatterAdd(tensor(backend, [1, 2, 3], [3], { dtype: 'f16' }), 0, indices, tensor(backend, [1, 2, 3, 4, 5])),
        scatterAdd(
          tensor(backend, X, [3, 4, 2]),
          1,
          tensor(backend, new Int32Array(PLACES), [3, 3, 2]),
          tensor(backend, V, [3, 3, 2]),
        ),
      ];
    },
    want: [[31, 72, 3], [4, 9, 3], [0, 127, -100], [4, 9, 3], byLoops('add')],
  },
  'sums in an order of their own: by an index for each value, and by one for each row': {
    run: (backend) => {
      const [x, rows] = [tensor(backend, X, [3, 4, 2]), tensor(backend, BINS, [150, 1])];
      const each = tensor(backend, new Int32Array(PLACES), [3, 3, 2]);
      const many = tensor(backend, MANY, [150, 2]);
      const bins = (): Tensor =>
        scatterAdd(tensor(backend, [1, 2, 3, 4], [2, 2]), 0, expand(rows, [150, 2]), many, { deterministic: true });
      const bytes = tensor(backend, new Int8Array([100, -100]));
      const places = tensor(backend, new Uint8Array([0, 0, 1, 0, 9]));
      return [
        scatterAdd(x, 1, each, tensor(backend, V, [3, 3, 2]), { deterministic: true, out: x }),
        bins(),
        sub(bins(), bins()),
        scatterAdd(bytes, 0, places, tensor(backend, new Int8Array([120, 120, -100, -120, 5])), {
          deterministic: true,
        }),
        scatterAdd(tensor(backend, [1, 2]), 0, tensor(backend, new Int32Array([])), tensor(backend, []), {
          deterministic: true,
        }),
      ];
    },
    want: [byLoops('add'), binsByLoops(), [0, 0, 0, 0], [127, -128], [1, 2]],
  },
  'places of the first axes, rows and single elements; of a permuted view': {
    run: (backend) => {
      const x = permute(tensor(backend, [1, 2, 3, 4, 5, 6], [3, 2]), [1, 0]);
      const [i, j] = [tensor(backend, new Int32Array([0, 1]), [2, 1]), tensor(backend, new Uint8Array([2, 0]))];
      return [
        indexPut(x, [tensor(backend, new Int32Array([1, 5]))], tensor(backend, [7, 8, 9, 1, 1, 1], [2, 3])),
        indexPut(x, [i, j], tensor(backend, [10, 20, 30, 40], [2, 2]), { accumulate: true }),
      ];
    },
    want: [
      [1, 3, 5, 7, 8, 9],
      [21, 3, 15, 42, 4, 36],
    ],
    tolerance: 0,
  },
};
