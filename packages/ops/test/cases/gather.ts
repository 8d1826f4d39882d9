import { embedding, gather, permute } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(3 * 4, 11);
const at = (i: number, j: number): number => X[i * 4 + j] as number;

/** Gather of ONNX, worked out anew. */
export const gatherCases: OpCases = {
  'an inner axis by a matrix of indices, some of them outside': {
    run: (b) =>
      gather(
        tensor(b, X, [3, 4]),
        tensor(
          b,
          [
            [0, -1],
            [9, 2],
          ],
          undefined,
          { dtype: 'i32' },
        ),
        { axis: 1 },
      ),
    want: [0, 1, 2].flatMap((i) => [at(i, 0), 0, 0, at(i, 2)]),
    shape: [3, 2, 2],
  },
  'one row of a permuted view, by an index without axes': {
    run: (b) => gather(permute(tensor(b, X, [3, 4]), [1, 0]), tensor(b, 2, [], { dtype: 'i32' })),
    want: [at(0, 2), at(1, 2), at(2, 2)],
    shape: [3],
  },
  'rows of an f16 table': {
    run: (b) => embedding(tensor(b, Uint32Array.of(2, 0)), tensor(b, Float32Array.from(X), [3, 4], { dtype: 'f16' })),
    want: [2, 0].flatMap((i) => [0, 1, 2, 3].map((j) => at(i, j))),
    tolerance: 1e-3,
    shape: [2, 4],
  },
};
