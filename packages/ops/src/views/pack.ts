import { copyElements } from '../compute/copy.ts';
import { allocate, viewOf } from '../tensor/allocate.ts';
import { checkTensor } from '../tensor/arguments.ts';
import { launch } from '../tensor/errors.ts';
import { denseStrides } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * The same elements, row-major without gaps: a view where they lie so already, else a copy.
 *
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2], [3, 4]]);
 * using y = pack(permute(x, [1, 0]));
 * y.strides; // [2, 1]
 * await y.toArray(); // [1, 3, 2, 4]
 * ```
 */
export function pack(x: Tensor): Tensor {
  checkTensor('pack', 'x', x);
  // Strides of axes of size 1 may be anything; who asks for dense ones gets them.
  if (x.isDense) return viewOf(x, { strides: denseStrides(x.shape) });
  return copyOf('pack', x);
}

/**
 * A copy in its own memory, dense.
 *
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = tensor(backend, [1, 2]);
 * using y = copy(x);
 * neg(x, { out: x });
 * await y.toArray(); // [1, 2]
 * ```
 */
export function copy(x: Tensor): Tensor {
  checkTensor('copy', 'x', x);
  return copyOf('copy', x);
}

function copyOf(op: string, x: Tensor): Tensor {
  const { ptr, strides, dtype, shape, backend } = x;
  const result = allocate(op, backend, shape, dtype);
  const to = { ptr: result.ptr, strides: result.strides, dtype };
  try {
    launch(op, [x], () => copyElements(backend, shape, { ptr, strides, dtype }, to));
  } catch (error) {
    result.dispose();
    throw error;
  }
  return result;
}
