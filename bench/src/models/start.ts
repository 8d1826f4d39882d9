import type { DeviceInfo } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { installNavigator } from '../dawn.ts';
import { useDevice } from '../device.ts';

/** Makes a device that of this process, for the peers too, and describes it. */
export async function startDevice(name: string | undefined): Promise<DeviceInfo> {
  await useDevice(name);
  const backend = new WebGpuBackend({ dawn: {} });
  await backend.init();
  const { device } = backend;
  await backend.dispose();
  await installNavigator({ pauses: device.type === 'software' || device.type === 'cpu' });
  return device;
}
