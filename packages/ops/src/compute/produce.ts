import type { ComputeBackend, DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { allocate } from '../tensor/allocate.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Layout } from '../tensor/layout.ts';
import { sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { copyElements } from './copy.ts';

/** Options of every function that gives one tensor. */
export interface OutOption {
  /**
   * Filled and returned instead of a new tensor, of the result's shape and kind of number. It may be an operand, element for
   * element; products, convolution, attention, `concat` and `stack` copy where they must.
   */
  readonly out?: Tensor | undefined;
}

/**
 * The result of a function: `out` where it is given, else a new tensor, which does not outlive an error.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an `out` of another shape, kind of number or backend
 */
export function produce(
  op: string,
  backend: ComputeBackend,
  shape: readonly number[],
  dtype: DType,
  options: OutOption & { readonly label?: string | undefined },
  fill: (result: Tensor) => void,
): Tensor {
  const { out, label } = options;
  checkOut(op, out, shape, dtype);
  if (out !== undefined) checkSameBackend(op, backend, [out]);
  const result = out ?? allocate(op, backend, shape, dtype, label);
  try {
    fill(result);
  } catch (error) {
    if (out === undefined) result.dispose();
    throw error;
  }
  return result;
}

/** A result that was computed apart, or `out` with a copy of it. */
export function copiedTo(op: string, result: Tensor, out: Tensor | undefined): Tensor {
  const { backend, shape, dtype } = result;
  if (out === undefined) return result;
  return produce(op, backend, shape, dtype, { out }, (to) => copyElements(backend, shape, result, to));
}

/** @throws {BackendError} INVALID_ARGUMENT for an `out` of another shape or kind of number than the result */
export function checkOut(op: string, out: Tensor | undefined, shape: readonly number[], dtype: DType): void {
  if (
    out === undefined ||
    (sameShape(out.shape, shape) && ELEMENT_TYPES[out.dtype].value === ELEMENT_TYPES[dtype].value)
  )
    return;
  throw refuse(op, `out is ${out.dtype}${shapeText(out.shape)}, the result ${dtype}${shapeText(shape)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT when a tensor belongs to another backend object */
export function checkSameBackend(op: string, backend: ComputeBackend, tensors: readonly Tensor[]): void {
  for (const tensor of tensors) {
    if (tensor.backend === backend) continue;
    throw refuse(op, `${tensor.toString()} is not on the backend of the first operand, ${backend.name}`, {
      hint: 'read it with toArray() and make a tensor on the other backend',
    });
  }
}

/**
 * Does what {@link produce} does for ops that store in dense rows beside all that they read: another `out` gets a copy.
 *
 * @param operands - what is read
 */
export function produceRows(
  op: string,
  operands: readonly [Tensor, ...Tensor[]],
  shape: readonly number[],
  dtype: DType,
  options: OutOption,
  fill: (result: Tensor) => void,
): Tensor {
  const fits = (out: Tensor): boolean =>
    hasRows(out, dtype) && (options.out === undefined || isApart(options.out, operands));
  return produceFitting(op, operands[0].backend, shape, dtype, options, fits, fill);
}

/** Returns whether a layout is of dense rows of that element type. */
export function hasRows({ shape, strides, dtype: own }: Omit<Layout, 'offset'>, dtype: DType): boolean {
  return own === dtype && (strides.at(-1) === 1 || (shape.at(-1) ?? 1) === 1);
}

/** Returns whether nothing that is read is in the allocation that is written. */
export function isApart(out: Tensor, operands: readonly Tensor[]): boolean {
  return operands.every(({ storage }) => storage !== out.storage);
}

/** Does what {@link produce} does for ops that store in some layouts only: an `out` of another one gets a copy. */
export function produceFitting(
  op: string,
  backend: ComputeBackend,
  shape: readonly number[],
  dtype: DType,
  options: OutOption,
  fits: (out: Tensor) => boolean,
  fill: (result: Tensor) => void,
): Tensor {
  return produce(op, backend, shape, dtype, options, (result) => {
    if (fits(result)) return fill(result);
    const own = produce(op, backend, shape, dtype, {}, fill);
    try {
      copyElements(backend, shape, own, result);
    } finally {
      own.dispose();
    }
  });
}
