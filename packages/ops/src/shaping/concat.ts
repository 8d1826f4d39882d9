import { BYTES_OF } from '@concord/backend-core';
import { copyElements } from '../compute/copy.ts';
import { commonDType, oneKind } from '../compute/elementwise.ts';
import { checkSameBackend, type OutOption, produceFitting } from '../compute/produce.ts';
import { checkAxis, ROWS } from '../compute/rows.ts';
import { checkList, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { unsqueeze } from '../views/expand.ts';

/** Options of {@link concat} and {@link stack}. */
export interface ConcatOptions extends OutOption {
  /** Default 0; negative ones count from the end. */
  readonly axis?: number;
}

/**
 * Tensors one after the other along an axis, as PyTorch's cat and Concat of ONNX. Each is copied once.
 *
 * @throws {BackendError} INVALID_ARGUMENT for no tensors, and for shapes that differ along another axis
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const a = tensor(backend, [[1], [2]]);
 * const b = tensor(backend, [[3, 4], [5, 6]]);
 * await concat([a, b], { axis: 1 }).toArray(); // [1, 3, 4, 2, 5, 6]
 * ```
 */
export function concat(tensors: readonly Tensor[], options: ConcatOptions = {}): Tensor {
  const first = firstOf('concat', tensors, options);
  const axis = checkAxis('concat', first.shape, options.axis ?? 0);
  return joined('concat', tensors, axis, options);
}

/**
 * Tensors of one shape along a new axis, as of PyTorch and NumPy.
 *
 * @throws {BackendError} INVALID_ARGUMENT for no tensors, and for shapes that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = stack([tensor(backend, [1, 2]), tensor(backend, [3, 4])], { axis: -1 });
 * x.shape; // [2, 2]
 * await x.toArray(); // [1, 3, 2, 4]
 * ```
 */
export function stack(tensors: readonly Tensor[], options: ConcatOptions = {}): Tensor {
  const first = firstOf('stack', tensors, options);
  const axis = checkAxis('stack', [...first.shape, 1], options.axis ?? 0);
  return tidy(() => {
    const parts = tensors.map((each) => unsqueeze(each, each.rank === first.rank ? axis : 0));
    return joined('stack', parts, axis, options);
  });
}

function firstOf(op: string, tensors: readonly Tensor[], options: ConcatOptions): Tensor {
  checkList(op, 'tensors', tensors);
  for (const [index, each] of tensors.entries()) checkTensor(op, `tensors[${index}]`, each);
  checkOptions(op, options, ROWS);
  const [first] = tensors;
  if (first === undefined) throw refuse(op, 'takes at least one tensor');
  checkSameBackend(op, first.backend, tensors);
  oneKind(op, tensors);
  return first;
}

function joined(op: string, tensors: readonly Tensor[], axis: number, options: OutOption): Tensor {
  const [first] = tensors as readonly [Tensor];
  const isAlike = ({ shape, rank }: Tensor): boolean =>
    rank === first.rank && shape.every((length, each) => each === axis || length === first.shape[each]);
  if (!tensors.every(isAlike)) {
    const shapes = tensors.map(({ shape }) => shapeText(shape)).join(', ');
    throw refuse(op, `shapes must be the same but for axis ${axis}, got ${shapes}`);
  }
  const lengths = tensors.map(({ shape }) => shape[axis] as number);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  const shape = first.shape.map((length, each) => (each === axis ? total : length));
  // A part that is still to be read must not be written over.
  const fits = (out: Tensor): boolean => tensors.every(({ storage }) => storage !== out.storage);
  return produceFitting(op, first.backend, shape, commonDType(tensors), options, fits, (result) => {
    const { dtype, strides, ptr } = result;
    let start = 0;
    for (const [index, part] of tensors.entries()) {
      const to = ptr + start * (strides[axis] as number) * BYTES_OF[dtype];
      launch(op, tensors, () => {
        copyElements(first.backend, part.shape, part, { ptr: to as typeof ptr, strides, dtype });
      });
      start += lengths[index] as number;
    }
  });
}
