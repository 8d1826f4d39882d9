import { clamp } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(7);

/** One bound, two, the wrong way round, tensors, integers. */
export const clampCases: OpCases = {
  'two numbers, one, and the wrong way round': {
    run: (backend) => {
      const x = tensor(backend, X);
      return [
        clamp(x, { min: -1, max: 0.5 }),
        clamp(x, { min: 0 }),
        clamp(x, { max: 0 }),
        clamp(x, { min: 1, max: -1 }),
      ];
    },
    want: [
      X.map((x) => Math.min(Math.max(x, -1), 0.5)),
      X.map((x) => Math.max(x, 0)),
      X.map((x) => Math.min(x, 0)),
      X.map(() => -1),
    ],
  },
  'tensors that broadcast, NaN in each place': {
    run: (backend) =>
      clamp(tensor(backend, [[5], [NaN], [-5]]), { min: tensor(backend, [-1, NaN]), max: tensor(backend, [[2]]) }),
    want: [2, NaN, NaN, NaN, -1, NaN],
    shape: [3, 2],
  },
  'integers stay integers, f16 stays f16': {
    run: (backend) => [
      clamp(tensor(backend, new Int8Array([-128, 3, 127])), { min: -2, max: 5 }),
      clamp(tensor(backend, new Uint32Array([1, 2 ** 32 - 1])), { max: 2 ** 31 }),
      clamp(tensor(backend, [-3, 0.5], [2], { dtype: 'f16' }), { min: -2 }),
    ],
    want: [
      [-2, 3, 5],
      [1, 2 ** 31],
      [-2, 0.5],
    ],
  },
};
