import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType } from '@concord/backend-core/kernel';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { checkOptions, checkTensors, OUT } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link triu} and {@link tril}. */
export interface TriangleOptions extends OutOption {
  /** The diagonal that the triangle begins at: above the main one where it is positive. Default 0. */
  readonly diagonal?: number;
}

/**
 * The upper triangle of matrices, from `diagonal` on, and zeros: NumPy's and PyTorch's triu, ONNX Trilu.
 *
 * @throws {BackendError} INVALID_ARGUMENT for less than two axes, and a diagonal that is no integer of 32 bits
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * await triu(tensor(backend, [[1, 2], [3, 4]])).toArray(); // [1, 2, 0, 4]
 * ```
 */
export function triu(x: Tensor, options: TriangleOptions = {}): Tensor {
  return triangle('triu', x, options);
}

/**
 * The lower triangle of matrices, up to `diagonal`, and zeros: NumPy's and PyTorch's tril, ONNX Trilu.
 *
 * @throws {BackendError} as {@link triu}
 * @example
 * ```ts
 * await tril(tensor(backend, [[1, 2], [3, 4]])).toArray(); // [1, 0, 3, 4]
 * ```
 */
export function tril(x: Tensor, options: TriangleOptions = {}): Tensor {
  return triangle('tril', x, options);
}

function triangle(op: 'triu' | 'tril', x: Tensor, options: TriangleOptions): Tensor {
  checkTensors(op, { x });
  checkOptions(op, options, { ...OUT, diagonal: 'number' });
  const { diagonal = 0 } = options;
  if (x.rank < 2) throw refuse(op, `takes matrices, got ${shapeText(x.shape)}`);
  if ((diagonal | 0) !== diagonal) throw refuse(op, `diagonal must be an integer of 32 bits, got ${diagonal}`);
  return produce(op, x.backend, x.shape, x.dtype, options, (result) => {
    const { shape } = x;
    const call = {
      shape,
      inputs: { x: placeOver(x, shape) },
      params: { diagonal },
      outputs: { y: placeOver(result, shape) },
    };
    launch(op, [x], () => x.backend.run(kernelOf(op, ELEMENT_TYPES[x.dtype].value), call));
  });
}

const kernels = new Kernels();

function kernelOf(op: 'triu' | 'tril', type: NumberType): Kernel {
  return kernels.of(
    `${op} ${type}`,
    () =>
      defineKernel(op, { inputs: { x: type }, params: { diagonal: 'i32' } }, ({ x, diagonal }, k) => {
        const above = k.sub(k.toI32(k.index(-1)), k.toI32(k.index(-2)));
        const isKept = op === 'triu' ? k.ge(above, diagonal) : k.le(above, diagonal);
        return { y: k.select<NumberType>(isKept, x, 0) };
      }) as Kernel,
  );
}
