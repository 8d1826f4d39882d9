import { empty, greater, permute, where } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const A = numbers(2 * 3);
const B = numbers(3 * 2, 2);

/** Conditions of each kind of number, three operands that broadcast, numbers instead of tensors. */
export const whereCases: OpCases = {
  'a column of conditions, a permuted view and a row': {
    run: (backend) => {
      const column = tensor(backend, new Uint8Array([1, 0]), [2, 1]);
      return where(column, permute(tensor(backend, B, [3, 2]), [1, 0]), tensor(backend, A.slice(0, 3)));
    },
    want: [...[0, 2, 4].map((i) => B[i] as number), ...A.slice(0, 3)],
    shape: [2, 3],
  },
  'NaN holds and -0 does not; NaN and infinities are chosen as they are': {
    run: (backend) => where(tensor(backend, [NaN, -0, -1, 0]), tensor(backend, [NaN, 1, -Infinity, 2]), Infinity),
    want: [NaN, Infinity, -Infinity, Infinity],
  },
  'integers, with conditions of i32, into out': {
    run: (backend) => {
      const out = empty(backend, [3], { dtype: 'i32' });
      const condition = tensor(backend, new Int32Array([-5, 0, 1]));
      return where(condition, tensor(backend, new Int32Array([-(2 ** 31), 2, 3])), -7, { out });
    },
    want: [-(2 ** 31), -7, 3],
  },
  'two numbers; a number as the condition; f16': {
    run: (backend) => [
      where(greater(tensor(backend, A), 0), 1, -1),
      where(0, 3, tensor(backend, [1, 2, 65504], [3], { dtype: 'f16' })),
      where(NaN, 3, tensor(backend, [1, 2])),
    ],
    want: [A.map((x) => (x > 0 ? 1 : -1)), [1, 2, 65504], [3, 3]],
  },
};
