import { type DevicePtr, offsetPtr } from '@concord/backend-core';
import type { WebGpuBackend } from '@concord/backend-webgpu';
import { noiseArray } from '../limits/noise-array.ts';
import { Workspace } from '../limits/workspace.ts';
import type { InputData, KernelCase, PlacedCase, Read } from './kernel-case.ts';

/** An input on the host. */
interface HostInput {
  readonly at: (index: number) => number;
  readonly ptr: DevicePtr;
}

/** The inputs and the output of a case in the device's memory, and what its inputs hold. */
export function placeCase(backend: WebGpuBackend, kernelCase: KernelCase): PlacedCase & { readonly read: Read } {
  const workspace = new Workspace(backend);
  const { kernel, shape, folded, output, params = {} } = kernelCase;
  const placed = Object.entries(kernelCase.inputs).map(([name, data], seed) => {
    return [name, { ...place(backend, workspace, data, seed + 1), data }] as const;
  });
  const inputs = new Map<string, HostInput>(placed);
  const out = workspace.output(output.length, output.dtype === 'f16' ? 'f16' : 'f32');
  const call = {
    shape,
    ...(folded === undefined ? {} : { folded }),
    inputs: Object.fromEntries(
      placed.map(([name, { ptr, data }]) => {
        const { strides, shape: own, dtype } = data;
        return [name, { ptr, ...(strides && { strides }), ...(own && { shape: own }), ...(dtype && { dtype }) }];
      }),
    ),
    outputs: {
      [output.name]: {
        ptr: out,
        ...(output.strides && { strides: output.strides }),
        ...(output.dtype && { dtype: output.dtype }),
      },
    },
    params,
  };
  return {
    output: out,
    read: (name, index) => (inputs.get(name) as HostInput).at(index),
    run: () => backend.run(kernel, call),
    free: () => workspace.free(),
  };
}

function place(
  backend: WebGpuBackend,
  workspace: Workspace,
  { length, dtype = 'f32', below = 1 }: InputData,
  seed: number,
): HostInput {
  if (dtype !== 'u32') {
    const array = noiseArray(length, seed, dtype);
    return { at: (index) => array.at(index), ptr: workspace.input(array) };
  }
  const numbers = Uint32Array.from({ length }, (_, i) =>
    Math.floor(((Math.imul(i + seed, 0x9e3779b1) >>> 0) / 2 ** 32) * below),
  );
  const ptr = workspace.output(length);
  backend.copyHtod(offsetPtr(ptr, 0), numbers);
  return { at: (index) => numbers[index] as number, ptr };
}
