import type { DeviceTraits } from './recorder.ts';

/** A device that has what WebGPU promises of every device, and no more: its default limits, and no features. */
export const DEFAULT_TRAITS: DeviceTraits = {
  isSoftware: false,
  hasF16: false,
  hasSubgroups: false,
  subgroupSize: 0,
  checksBounds: true,
  matrixUnits: [],
  storageAlignment: 256,
  maxBindingBytes: 134_217_728,
  maxBufferBytes: 268_435_456,
  maxWorkgroupsPerDimension: 65_535,
  maxInvocations: 256,
  maxWorkgroupBytes: 16_384,
};
