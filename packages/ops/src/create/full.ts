import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { checkHolds } from './check-holds.ts';
import { Kernels } from '../compute/kernels.ts';
import { produce } from '../compute/produce.ts';
import { CREATE, checkBackend, checkNumbers, checkOptions } from '../tensor/arguments.ts';
import { checkDType, checkShape, type CreateOptions } from '../tensor/create.ts';
import { launch } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

const kernels = new Kernels();

/**
 * A tensor of one number.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a number that the element type cannot hold
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = full(backend, [2, 2], 7, { dtype: 'i32' });
 * await x.toArray(); // [7, 7, 7, 7]
 * ```
 */
export function full(
  backend: ComputeBackend,
  shape: readonly number[],
  value: number,
  options: CreateOptions = {},
): Tensor {
  return filled('full', backend, shape, value, options);
}

/**
 * A tensor of ones.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = ones(backend, [3]);
 * await x.toArray(); // [1, 1, 1]
 * ```
 */
export function ones(backend: ComputeBackend, shape: readonly number[], options: CreateOptions = {}): Tensor {
  return filled('ones', backend, shape, 1, options);
}

function filled(
  op: string,
  backend: ComputeBackend,
  shape: readonly number[],
  value: number,
  options: CreateOptions,
): Tensor {
  checkBackend(op, backend);
  checkNumbers(op, { value });
  checkOptions(op, options, CREATE);
  const { dtype = 'f32', label } = options;
  const own = checkShape(op, shape);
  checkHolds(op, checkDType(op, dtype), value);
  return produce(op, backend, own, checkDType(op, dtype), { label }, (result) => fillWith(op, result, value));
}

/** Writes one number to every element. */
export function fillWith(op: string, result: Tensor, value: number): void {
  const { backend, shape, ptr, strides, dtype } = result;
  const type = ELEMENT_TYPES[dtype].value;
  const kernel = kernels.of(
    type,
    () => defineKernel('fill', { params: { value: type } }, (symbols, k) => ({ y: k.spread(symbols.value) })) as Kernel,
  );
  launch(op, [result], () => {
    launchKernel(backend, kernel, { shape, params: { value }, outputs: { y: { ptr, strides, dtype } } });
  });
}
