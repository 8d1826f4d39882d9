import { expect, it } from 'vitest';
import { slugOf, useDevice } from './device.ts';

it('names files by the device', () => {
  expect(slugOf('llvmpipe: Mesa 22.3.6 (LLVM 15.0.6)')).toBe('lavapipe');
  expect(slugOf('SwiftShader driver-5.0.0')).toBe('swiftshader');
  expect(slugOf('NVIDIA H200 (PCIe)')).toBe('nvidia-h200-pcie');
});

it('refuses a device that it does not know', async () => {
  await expect(useDevice('warp')).rejects.toThrow('--device takes lavapipe, swiftshader, system, not warp');
});
