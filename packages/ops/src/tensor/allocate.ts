import {
  BYTES_OF,
  BackendError,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  NULL_PTR,
} from '@concord/backend-core';
import { shapeText } from './errors.ts';
import type { Layout } from './layout.ts';
import { adopt } from './scope.ts';
import { denseStrides, sizeOf } from './shape.ts';
import { Storage } from './storage.ts';
import { Tensor } from './tensor.ts';

/**
 * A dense tensor in its own memory, with unspecified contents.
 *
 * @param op - the function that it is for, in error messages
 * @throws {BackendError} OUT_OF_MEMORY
 */
export function allocate(
  op: string,
  backend: ComputeBackend,
  shape: readonly number[],
  dtype: DType,
  label?: string,
): Tensor {
  const bytes = sizeOf(shape) * BYTES_OF[dtype];
  if (!Number.isSafeInteger(bytes)) {
    throw new BackendError('OUT_OF_MEMORY', `${op}: ${dtype}${shapeText(shape)} is more than any memory`, { op });
  }
  const ptr = bytes === 0 ? NULL_PTR : backend.alloc(bytes, label === undefined ? {} : { label });
  return owning(backend, ptr, shape, dtype);
}

/** A dense tensor on an allocation that is its own from now on. */
export function owning(backend: ComputeBackend, ptr: DevicePtr, shape: readonly number[], dtype: DType): Tensor {
  const storage = new Storage(backend, ptr, sizeOf(shape) * BYTES_OF[dtype], true);
  return made(new Tensor(storage, { shape, strides: denseStrides(shape), dtype, offset: 0 }));
}

/** A tensor on the storage of another one. */
export function viewOf(tensor: Tensor, layout: Partial<Layout>): Tensor {
  // Asked for its address, a disposed tensor says so.
  void tensor.ptr;
  const { shape, strides, dtype, offset } = tensor;
  return made(new Tensor(tensor.storage, { shape, strides, dtype, offset, ...layout }));
}

/** Leaves a new tensor to the innermost `tidy`, or to the collector. */
export function made(tensor: Tensor): Tensor {
  adopt(tensor);
  return tensor;
}
