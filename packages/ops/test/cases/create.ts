import { arange, full, ones } from '../../src/index.ts';
import type { OpCases } from '../support/op-case.ts';

/** Tensors of one number and of steps, of each kind of number. */
export const createCases: OpCases = {
  'one number, of each kind': {
    run: (backend) => [
      full(backend, [2, 3], -0.5),
      full(backend, [3], Infinity, { dtype: 'f16' }),
      full(backend, [], -(2 ** 31), { dtype: 'i32' }),
      full(backend, [2], 255, { dtype: 'u8' }),
      full(backend, [2, 0], 1),
      ones(backend, [5], { dtype: 'bf16' }),
    ],
    want: [Array(6).fill(-0.5), Array(3).fill(Infinity), [-(2 ** 31)], [255, 255], [], Array(5).fill(1)],
    shape: [2, 3],
  },
  'steps of floats: up, down, an end that is not reached, none': {
    run: (backend) => [
      arange(backend, -1, 1, 0.3),
      arange(backend, 2, -1, -0.75),
      arange(backend, 0, 7),
      arange(backend, 3, 3),
      arange(backend, 3, 0),
    ],
    want: [[-1, -0.7, -0.4, -0.1, 0.2, 0.5, 0.8], [2, 1.25, 0.5, -0.25], [0, 1, 2, 3, 4, 5, 6], [], []],
    shape: [7],
  },
  'steps of integers, through the whole range': {
    run: (backend) => [
      arange(backend, 2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 1, { dtype: 'i32' }),
      arange(backend, 0, 2 ** 32, 2 ** 31 - 1, { dtype: 'u32' }),
      arange(backend, 7, -1, -3, { dtype: 'u8' }),
    ],
    want: [
      [2 ** 31 - 1, 0, -(2 ** 31) + 1],
      [0, 2 ** 31 - 1, 2 ** 32 - 2],
      [7, 4, 1],
    ],
    tolerance: 0,
  },
};
