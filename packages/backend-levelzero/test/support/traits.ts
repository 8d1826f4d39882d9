import type { DeviceTraits } from '../../src/kernels/recorder.ts';

const CPU: DeviceTraits = {
  isCpuLike: true,
  maxGroupSize: 1024,
  maxLocalBytes: 65_536,
  subgroupSizes: [8],
  hasF64: true,
  hasF16: false,
  hasLargeRegisterFile: false,
  matrixEngine: undefined,
  computeUnits: 2,
  maxAllocationBytes: 2 ** 33,
  maxGroups: [2 ** 32 - 1, 65_535, 65_535],
};

const GPU: DeviceTraits = { ...CPU, isCpuLike: false, subgroupSizes: [8, 16, 32], hasF64: false, computeUnits: 64 };

/** Devices that plans are tested for: a CPU, a large GPU, one without sub-groups, and one that takes few groups. */
export const TEST_DEVICES: Readonly<Record<'cpu' | 'gpu' | 'plainGpu' | 'fewGroups', DeviceTraits>> = {
  cpu: CPU,
  gpu: GPU,
  plainGpu: { ...GPU, subgroupSizes: [], computeUnits: 4 },
  fewGroups: { ...GPU, maxGroups: [1000, 65_535, 65_535] },
};
