import { isBackendError } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { dawnSource } from '../src/client/dawn-source.ts';
import type { GpuContext } from '../src/client/gpu-source.ts';
import { MATRIX_UNITS } from '../src/client/device-traits.ts';
import { PipelineCache } from '../src/client/pipeline-cache.ts';
import { MAX_UNIFORM_BYTES } from '../src/client/batch.ts';
import { allKernels } from '../src/kernels/families.ts';
import { type Kernel, uniformBytes } from '../src/kernels/kernel.ts';
import type { DeviceTraits } from '../src/kernels/recorder.ts';
import { runKernels } from './support/run-kernels.ts';
import { TEST_DEVICES } from './support/traits.ts';

// Everything that can be emitted is compiled by Dawn's null backend: no device is needed, and none has to be hit by
// chance with the shape that takes a variant. What a device computes with it is for the conformance suite.

/** The devices, the least capable first: what compiles for one need not be compiled for the next. */
const DEVICES = ['defaults', 'swiftshader', 'lavapipe', 'gpu'] as const;

/** Those of graphs have no end: some of each kind. */
const everyKernel = (name: (typeof DEVICES)[number]): readonly Kernel[] => [
  ...allKernels(TEST_DEVICES[name]),
  ...runKernels(TEST_DEVICES[name]),
];
const kernels = new Map(DEVICES.map((name) => [name, everyKernel(name)]));
const every = [...new Set([...kernels.values()].flat())];

/** A device of Dawn's null backend with the features of `traits`; its limits are WebGPU's defaults. */
async function nullDevice({ hasF16, hasSubgroups, matrixUnits }: DeviceTraits): Promise<GpuContext> {
  const source = await dawnSource({ backend: 'null' }).open();
  if (!source.found) throw new Error(source.message);
  const adapter = await source.gpu.requestAdapter();
  const requiredFeatures: string[] = [];
  if (hasF16) requiredFeatures.push('shader-f16');
  if (hasSubgroups) requiredFeatures.push('subgroups');
  if (matrixUnits.length > 0) requiredFeatures.push(MATRIX_UNITS);
  const device = await adapter?.requestDevice({ requiredFeatures: requiredFeatures as GPUFeatureName[] });
  if (device === undefined) throw new Error('the null backend has no device');
  return { device, awaiting: source.awaiting };
}

/** Returns whether a valid kernel is refused for sizes that the null backend does not offer, but the real device does. */
function isOnlyTooLarge(message: string, { maxWorkgroupBytes, maxInvocations, subgroupSize }: DeviceTraits): boolean {
  const bytes = /use of workgroup storage \((\d+) bytes\)/.exec(message)?.[1];
  const size = /workgroup_size\((\d+), (\d+), (\d+)\) that exceeds/.exec(message)?.slice(1);
  // The null backend's subgroups have up to 128 invocations.
  const subgroups = /workgroup_size \((\d+)\) must be a multiple of the device maxSubgroupSize/.exec(message)?.[1];
  if (bytes !== undefined) return Number(bytes) <= maxWorkgroupBytes;
  if (subgroups !== undefined) return Number(subgroups) % subgroupSize === 0;
  return size !== undefined && size.reduce((product, extent) => product * Number(extent), 1) <= maxInvocations;
}

it('every kernel compiles on every device that it is for', async () => {
  const failures: string[] = [];
  const compiled = new Set<string>();
  for (const name of DEVICES) {
    const context = await nullDevice(TEST_DEVICES[name]);
    const cache = new PipelineCache(context);
    const isNew = ({ code }: Kernel): boolean => !compiled.has(code) && compiled.add(code) !== undefined;
    await Promise.all(
      (kernels.get(name) ?? []).filter(isNew).map((kernel) =>
        cache.compile(kernel).catch((error: unknown) => {
          const message = isBackendError(error) ? error.message : String(error);
          if (!isOnlyTooLarge(message, TEST_DEVICES[name])) failures.push(`for ${name}: ${message}`);
        }),
      ),
    );
    context.device.destroy();
  }
  expect(failures).toEqual([]);
  expect(compiled.size).toBeGreaterThan(50);
});

// Kernels of graphs have the names that people gave the graphs, of which two may be the same; `explain` shows the code.
it('a name stands for one source', () => {
  const byName = new Map<string, string>();
  for (const { name, code } of DEVICES.flatMap((device) => allKernels(TEST_DEVICES[device]))) {
    expect(byName.get(name) ?? code, name).toBe(code);
    byName.set(name, code);
  }
});

it('the uniforms of every kernel fit', () => {
  for (const kernel of every) expect(uniformBytes(kernel), kernel.name).toBeLessThanOrEqual(MAX_UNIFORM_BYTES);
});

it('asking twice gives the same kernels', () => {
  for (const name of DEVICES) expect(everyKernel(name)).toEqual(kernels.get(name));
});
