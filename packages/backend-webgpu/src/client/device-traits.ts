import type { DeviceTraits } from '../kernels/recorder.ts';
import { isSoftwareAdapter } from './device-info.ts';
import { matrixShapes } from './matrix-units.ts';

/** The facts about a device that planning needs, except those that only its source knows. */
export function traitsOf(
  device: Pick<GPUDevice, 'limits' | 'features'>,
  info: GPUAdapterInfo,
): Omit<DeviceTraits, 'checksBounds'> {
  const { limits, features } = device;
  return {
    isSoftware: isSoftwareAdapter(info),
    hasF16: features.has('shader-f16'),
    hasSubgroups: features.has('subgroups'),
    subgroupSize: features.has('subgroups') ? fixedSubgroupSize(info) : 0,
    matrixUnits: matrixShapes(device, info),
    storageAlignment: limits.minStorageBufferOffsetAlignment,
    maxBindingBytes: Math.floor(limits.maxStorageBufferBindingSize / 4) * 4,
    maxBufferBytes: Math.floor(limits.maxBufferSize / 4) * 4,
    maxWorkgroupsPerDimension: limits.maxComputeWorkgroupsPerDimension,
    // Workgroups of the kernels are rows: a device may allow fewer invocations in one direction than in all.
    maxInvocations: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
  };
}

/** Older implementations do not tell: then nothing may rely on a size. */
function fixedSubgroupSize({ subgroupMinSize, subgroupMaxSize }: GPUAdapterInfo): number {
  return subgroupMinSize === subgroupMaxSize ? (subgroupMinSize ?? 0) : 0;
}
