import { describeConformance } from '@concord/conformance/vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { PipelineCache } from '../src/client/pipeline-cache.ts';
import { WebGpuBackend, type WebGpuOptions } from '../src/index.ts';
import type { Kernel } from '../src/kernels/kernel.ts';
import type { DeviceTraits } from '../src/kernels/recorder.ts';
import { UNITS_TRAITS, withoutUnits } from './support/emulated-units.ts';

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
const as = (gpu: Partial<DeviceTraits>, options?: WebGpuOptions) => (): WebGpuBackend => {
  traits = { isSoftware: false, ...gpu };
  return new WebGpuBackend(options);
};

await describeConformance(as({}), { sample: 0.15, title: 'conformance of webgpu as on a GPU' });
// Lengths and starts in memory decide what a part of the keys is, where queries are few: all of these.
await describeConformance(as({}), {
  ...{ filter: 'attention/*/batch=4,*seqKv=300*', sample: 1 },
  title: 'attention over ragged caches of webgpu as on a GPU',
});

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

// Those on matrix units are emulated, one tile of each kind.
for (const method of ['compile', 'now'] as const) {
  const original = Reflect.get(PipelineCache.prototype, method) as (kernel: Kernel) => unknown;
  Reflect.set(PipelineCache.prototype, method, function emulated(this: PipelineCache, kernel: Kernel) {
    return original.call(this, withoutUnits(kernel));
  });
}
for (const [filter, sample, variant] of [
  ['conv2dForward/*/*filter=40x3x*dtype=f16*', 1, 'conv2d/matrix-64x64x32'],
  ['conv2dForward/*/*filter=33x3x3*dtype=f16*', 1, 'conv2d/matrix-64x64x32'],
  ['conv2dForward/*/*filter=?4x1x1*dtype=f16*', 1, 'gemm/matrix-64x64x32'],
  ['gemmF16/**', 0.3, 'gemm/matrix-64x64x32'],
  ['attention/*/*seqQ=[67]?,*headDim=[26]4*dtype=f16*', 1, 'attention/matrix-64x16x64'],
] as const) {
  const title = `${filter} of webgpu with matrix units, emulated`;
  await describeConformance(as(UNITS_TRAITS, { variants: [variant] }), { filter, sample, title });
}
