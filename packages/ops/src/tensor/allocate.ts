import {
  BYTES_OF,
  BackendError,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  NULL_PTR,
} from '@concord/backend-core';
import { ListCache } from '@concord/backend-core/implement';
import { shapeText } from './errors.ts';
import { denseLayout, type Layout, type SharedLayout, sharedLayout } from './layout.ts';
import { adopt } from './scope.ts';
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
  return allocateAs(op, backend, denseLayout(shape, dtype), label);
}

/** The same of a layout without gaps: that of its elements, in whatever order of the axes. */
export function allocateAs(op: string, backend: ComputeBackend, layout: SharedLayout, label?: string): Tensor {
  const { size, dtype, shape } = layout;
  const bytes = size * BYTES_OF[dtype];
  if (!Number.isSafeInteger(bytes)) {
    throw new BackendError('OUT_OF_MEMORY', `${op}: ${dtype}${shapeText(shape)} is more than any memory`, { op });
  }
  const ptr = bytes === 0 ? NULL_PTR : label === undefined ? backend.alloc(bytes) : backend.alloc(bytes, { label });
  return made(new Tensor(new Storage(backend, ptr, bytes, true), layout));
}

/** A dense tensor on an allocation that is its own from now on. */
export function owning(backend: ComputeBackend, ptr: DevicePtr, shape: readonly number[], dtype: DType): Tensor {
  const layout = denseLayout(shape, dtype);
  return made(new Tensor(new Storage(backend, ptr, layout.size * BYTES_OF[dtype], true), layout));
}

/** A tensor on the storage of another one. */
export function viewOf(tensor: Tensor, changes: Partial<Layout>): Tensor {
  // Asked for its address, a disposed tensor says so.
  void tensor.ptr;
  const { shape = tensor.shape, strides = tensor.strides, dtype = tensor.dtype, offset = tensor.offset } = changes;
  const isAlike = shape === tensor.shape && strides === tensor.strides && dtype === tensor.dtype;
  return made(new Tensor(tensor.storage, isAlike ? tensor.layout : sharedLayout(shape, strides, dtype), offset));
}

/** The size of each of two generations. */
const MAX_VIEWS = 1024;
const views = new ListCache<SharedLayout>(MAX_VIEWS);

/**
 * A view whose layout follows from that of the tensor and from a key: the name of the function, and numbers.
 *
 * @param layoutOf - undefined if there is no such view: then this returns undefined too
 */
export function keyedView(
  tensor: Tensor,
  key: (string | number)[],
  layoutOf: () => Pick<Layout, 'shape' | 'strides'> | undefined,
): Tensor | undefined {
  // Asked for its address, a disposed tensor says so.
  void tensor.ptr;
  key.push(tensor.layout.id);
  let layout = views.get(key);
  if (layout === undefined) {
    const own = layoutOf();
    if (own === undefined) return undefined;
    views.add(key, (layout = sharedLayout(own.shape, own.strides, tensor.dtype)));
  }
  return made(new Tensor(tensor.storage, layout, tensor.offset));
}

/** Leaves a new tensor to the innermost `tidy`, or to the collector. */
export function made(tensor: Tensor): Tensor {
  adopt(tensor);
  return tensor;
}
