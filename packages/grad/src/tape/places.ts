import { BYTES_OF } from '@concord/backend-core';
import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import type { Tensor } from '@concord/ops';
import { denseLayout, launchKernel, type SharedLayout, type Storage } from '@concord/ops/listen';

/** Returns whether no two elements share memory: each stride is beyond what the lesser ones reach. */
export function isNonOverlapping(shape: readonly number[], strides: readonly number[]): boolean {
  const axes = shape
    .map((size, axis) => ({ size, stride: strides[axis] as number }))
    .filter(({ size }) => size > 1)
    .sort((a, b) => a.stride - b.stride);
  let reach = 0;
  for (const { size, stride } of axes) {
    if (stride <= reach) return false;
    reach += (size - 1) * stride;
  }
  return true;
}

const kernels: Kernel[] = [];

/** Adds values to all that a tensor lies in, each at the place of its element of the tensor, several of which may have one. */
export function addAtPlaces(
  all: Tensor,
  { shape, strides, offset }: Pick<Tensor, 'shape' | 'strides' | 'offset'>,
  value: Tensor,
): void {
  const kernel = (kernels[shape.length] ??= define(shape.length));
  const params = Object.fromEntries(strides.map((stride, axis) => [`s${axis}`, stride]));
  const { ptr, strides: own, dtype } = value;
  launchKernel(value.backend, kernel, {
    ...{ shape, inputs: { x: { ptr, strides: own, dtype } }, params: { ...params, offset } },
    outputs: { y: { ptr: all.ptr, shape: all.shape, strides: all.strides } },
  });
  all.dispose();
}

function define(rank: number): Kernel {
  const params = Object.fromEntries(
    ['offset', ...Array.from({ length: rank }, (_, axis) => `s${axis}`)].map((name) => [name, 'u32' as const]),
  );
  const outputs = { y: { type: 'f32', access: 'scatter', rank: 1, mode: 'add' } } as const;
  return defineKernel('add at places', { inputs: { x: 'f32' }, params, outputs }, (symbols, k) => {
    const { x, ...own } = symbols as unknown as { x: Value<'f32'> } & Record<string, Value<'u32'>>;
    let place = own['offset'] as Value<'u32'>;
    for (let axis = 0; axis < rank; axis++) place = k.add(place, k.mul(k.index(axis), own[`s${axis}`] as Value<'u32'>));
    return { y: k.scatter(x, [place]) };
  }) as Kernel;
}

/** Returns whether a tensor is all of its storage, each element once. */
export function fills({ offset, shape, strides, size, dtype, storage }: View): boolean {
  return offset === 0 && size * BYTES_OF[dtype] === storage.bytes && isNonOverlapping(shape, strides);
}

/** Returns whether the elements of two tensors of one shape lie alike. */
export function isAlike(a: View, b: View): boolean {
  return a.shape.every((size, axis) => size === b.shape[axis] && (size === 1 || a.strides[axis] === b.strides[axis]));
}

/** The place of a tensor, now or before: its memory may be freed, and is not held. */
export type View = Pick<Tensor, 'storage' | 'shape' | 'strides' | 'dtype' | 'offset' | 'size'>;

/** All of a storage by a layout. */
export function viewIn(storage: Storage, { shape, strides, dtype, size }: SharedLayout): View {
  return { storage, shape, strides, dtype, size, offset: 0 };
}

/** All that a tensor lies in. */
export function flat({ storage, dtype }: View): View {
  return viewIn(storage, denseLayout([storage.bytes / BYTES_OF[dtype]], dtype));
}

/** Returns the first element of a tensor in its storage, and the end of the last one. */
export function rangeOf({ offset, shape, strides, size }: Tensor): readonly [from: number, to: number] {
  if (size === 0) return [offset, offset];
  return [offset, offset + shape.reduce((sum, length, axis) => sum + (length - 1) * (strides[axis] as number), 1)];
}
