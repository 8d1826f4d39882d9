import { DEFAULT_TRAITS, type DeviceTraits } from '../../src/kernels/recorder.ts';

/** Traits of a device with WebGPU's default limits and no features, except as given. */
export function deviceTraits(given: Partial<DeviceTraits> = {}): DeviceTraits {
  return { ...DEFAULT_TRAITS, ...given };
}

/** Devices that plans are tested for: those of CI, a large GPU, the minimum of WebGPU, and tiny windows. */
export const TEST_DEVICES: Readonly<Record<'swiftshader' | 'lavapipe' | 'gpu' | 'defaults' | 'tiny', DeviceTraits>> = {
  swiftshader: deviceTraits({
    isSoftware: true,
    hasSubgroups: true,
    subgroupSize: 4,
    maxBindingBytes: 1_073_741_824,
    maxBufferBytes: 1_073_741_824,
    maxWorkgroupBytes: 32_768,
  }),
  lavapipe: deviceTraits({
    isSoftware: true,
    hasF16: true,
    hasSubgroups: true,
    subgroupSize: 8,
    storageAlignment: 16,
    maxInvocations: 1024,
    maxWorkgroupBytes: 32_768,
  }),
  gpu: deviceTraits({
    hasF16: true,
    hasSubgroups: true,
    subgroupSize: 32,
    matrixUnits: [
      { m: 16, n: 16, k: 16 },
      { m: 16, n: 8, k: 16 },
      { m: 16, n: 8, k: 8 },
    ],
    storageAlignment: 16,
    maxBindingBytes: 2 ** 32 - 4,
    maxBufferBytes: 2 ** 40,
    maxInvocations: 1024,
    maxWorkgroupBytes: 49_152,
  }),
  defaults: deviceTraits({ checksBounds: false }),
  tiny: deviceTraits({ maxBindingBytes: 1024, maxWorkgroupsPerDimension: 2 }),
};
