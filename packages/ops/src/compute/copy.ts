import type { ComputeBackend, DevicePtr } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType } from '@concord/backend-core/kernel';
import { launchKernel } from './launches.ts';
import type { Layout } from '../tensor/layout.ts';
import { Kernels } from './kernels.ts';

const kernels = new Kernels();

function copyKernel(type: NumberType): Kernel {
  return kernels.of(type, () => defineKernel('copy', { inputs: { x: type } }, ({ x }) => ({ y: x })) as Kernel);
}

/** The place that a copy reads or writes: strides in elements. */
export type Place = View & { readonly ptr: DevicePtr };

/** The same without its address. */
export type View = Pick<Layout, 'strides' | 'dtype'>;

/** Copies elements from one layout to another of the same shape; also between element types of one value type. */
export function copyElements(backend: ComputeBackend, shape: readonly number[], from: Place, to: Place): void {
  const inputs = { x: placeOf(from) };
  launchKernel(backend, copyKernel(ELEMENT_TYPES[from.dtype].value), { shape, inputs, outputs: { y: placeOf(to) } });
}

/** Copies the fields of a place: a tensor has more than a call may. */
function placeOf({ ptr, strides, dtype }: Place): Place {
  return { ptr, strides, dtype };
}
