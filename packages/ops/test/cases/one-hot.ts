import { empty, oneHot, permute, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import type { OpCases } from '../support/op-case.ts';

/** Indices of each kind, outside too; a view of indices, a view as `out`. */
export const oneHotCases: OpCases = {
  'i32, outside too: zeros only': {
    run: (backend) => oneHot(tensor(backend, new Int32Array([1, -1, 3, 2])), 3),
    want: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    shape: [4, 3],
  },
  'a transposed view of u8, into a permuted out of i32': {
    run: (backend) => {
      const indices = transpose(tensor(backend, new Uint8Array([0, 1, 1, 0, 1, 0]), [2, 3]));
      const out = permute(empty(backend, [2, 2, 3], { dtype: 'i32' }), [2, 1, 0]);
      return oneHot(indices, 2, { dtype: 'i32', out });
    },
    want: [1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0],
    shape: [3, 2, 2],
  },
  'one index, of u8; a depth of 0': {
    run: (backend) => {
      const index = tensor(backend, 2, [], { dtype: 'u32' });
      return [oneHot(index, 4, { dtype: 'u8' }), oneHot(index, 0)];
    },
    want: [[0, 0, 1, 0], []],
    shape: [4],
  },
};
