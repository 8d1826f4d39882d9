import { expect, it } from 'vitest';
import { traitsOf } from './device-traits.ts';

const LIMITS = {
  minStorageBufferOffsetAlignment: 256,
  maxStorageBufferBindingSize: 2 ** 27 + 2,
  maxBufferSize: 2 ** 28,
  maxComputeWorkgroupsPerDimension: 65_535,
  maxComputeInvocationsPerWorkgroup: 1024,
  maxComputeWorkgroupSizeX: 1024,
  maxComputeWorkgroupStorageSize: 32_768,
};

function traits(limits: Partial<typeof LIMITS>, info: Partial<GPUAdapterInfo> = {}) {
  const device = { limits: { ...LIMITS, ...limits }, features: new Set(['subgroups']) };
  return traitsOf(device as unknown as GPUDevice, info as GPUAdapterInfo);
}

it('takes the lesser of the limits on invocations', () => {
  expect(traits({}).maxInvocations).toBe(1024);
  expect(traits({ maxComputeWorkgroupSizeX: 256 }).maxInvocations).toBe(256);
  expect(traits({ maxComputeInvocationsPerWorkgroup: 512 }).maxInvocations).toBe(512);
});

it('rounds bindings down to words, and relies on a size of subgroups only where there is one', () => {
  expect(traits({}).maxBindingBytes).toBe(2 ** 27);
  expect(traits({}, { subgroupMinSize: 32, subgroupMaxSize: 32 }).subgroupSize).toBe(32);
  expect(traits({}, { subgroupMinSize: 4, subgroupMaxSize: 128 }).subgroupSize).toBe(0);
  expect(traits({}).subgroupSize).toBe(0);
});
