import type { ComputeBackend, DeviceInfo } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { installNavigator } from '../dawn.ts';
import { useDevice } from '../device.ts';

/** The device of a backend, which is opened for that alone. */
export async function deviceOf(backend: ComputeBackend): Promise<DeviceInfo> {
  await backend.init();
  const { device } = backend;
  await backend.dispose();
  return device;
}

/** Makes a device that of this process, for the peers too, and describes it. */
export async function startDevice(name: string | undefined): Promise<DeviceInfo> {
  await useDevice(name);
  const device = await deviceOf(new WebGpuBackend({ dawn: {} }));
  await installNavigator({ pauses: device.type === 'software' || device.type === 'cpu' });
  return device;
}
