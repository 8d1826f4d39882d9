import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';
import type { DeviceTraits } from '../src/kernels/recorder.ts';

// The variants for GPUs, which are not chosen on a software device, give the right results there too. They are slow
// there: a part of the cases has to do.

const open = WebGpuClient.open.bind(WebGpuClient);
let traits: Partial<DeviceTraits> = {};
WebGpuClient.open = async (options) => {
  const client = await open(options);
  Object.assign(client.traits, traits);
  return client;
};

/** A backend that takes the device for a GPU. */
const as = (gpu: Partial<DeviceTraits>) => (): WebGpuBackend => {
  traits = { isSoftware: false, ...gpu };
  return new WebGpuBackend();
};

await describeConformance(as({}), { sample: 0.15, title: 'conformance of webgpu as on a GPU' });

// What kernels of graphs do in groups is another code there.
const withoutSubgroups = { hasSubgroups: false, subgroupSize: 0, maxInvocations: 256 };
for (const [filter, sample] of [
  ['run/long/**', 1],
  ['run/fold/**', 0.2],
  ['run/kernel/**', 0.1],
] as const) {
  const title = `${filter} of webgpu as on a GPU without sub-groups`;
  await describeConformance(as(withoutSubgroups), { filter, sample, title });
}
