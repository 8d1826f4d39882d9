import { existsSync } from 'node:fs';
import type { ComputeBackend, DeviceInfo } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { NotHere, oneOf } from './options.ts';

/** Values of `--device`. */
const DEVICES = ['lavapipe', 'swiftshader', 'system'] as const;

interface SoftwareDevices {
  readonly setUp: (devices: readonly string[]) => readonly string[];
  readonly preloadVulkan: (device: string) => string;
}

/**
 * Makes a software device the Vulkan of this process, set up first if need be. `system` and nothing mean the GPU that
 * the machine has.
 *
 * @throws {UsageError} for a name that is none
 * @throws {NotHere} where the device cannot be made
 */
export async function useDevice(name: string | undefined): Promise<void> {
  if (name === undefined || name === 'system') return;
  checkDevice(name);
  // Only a checkout has them, so they are looked for when they are asked for.
  const folder = new URL('../../software-devices/vulkan/', import.meta.url);
  const { setUp } = (await import(new URL('setup.mjs', folder).href)) as SoftwareDevices;
  const { preloadVulkan } = (await import(new URL('preload.mjs', folder).href)) as SoftwareDevices;
  if (setUp([name]).length > 0) throw new NotHere(`${name} could not be set up`);
  preloadVulkan(name);
}

/** @throws {UsageError} for a name that no device of WebGPU has */
export function checkDevice(name: string): void {
  oneOf('--device', name, DEVICES);
}

/**
 * Makes the CPU driver the Level Zero of this process, built first if need be.
 *
 * @throws {NotHere} where it cannot be built
 */
export async function useLevelZeroCpu(): Promise<void> {
  const folder = new URL('../../software-devices/level-zero-cpu/', import.meta.url);
  const { setUp } = (await import(new URL('setup.mjs', folder).href)) as { setUp: () => boolean };
  const { useDriver } = (await import(new URL('preload.mjs', folder).href)) as { useDriver: () => void };
  if (!setUp()) throw new NotHere('the CPU driver of Level Zero could not be built');
  useDriver();
}

/** The software devices of this checkout that need no set-up any more. */
export async function readySoftwareDevices(): Promise<string[]> {
  const file = new URL('../../software-devices/vulkan/lib/cache.mjs', import.meta.url);
  if (!existsSync(file)) return [];
  const { devices, readyDevice } = (await import(file.href)) as {
    readonly devices: readonly string[];
    readonly readyDevice: (device: string) => object | undefined;
  };
  return devices.filter((device) => readyDevice(device) !== undefined);
}

/** A device's name as part of a file's: that of a software device, else the adapter's in lower case. */
export function slugOf(device: string): string {
  if (/swiftshader/i.test(device)) return 'swiftshader';
  if (/llvmpipe|lavapipe/i.test(device)) return 'lavapipe';
  return device
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

/** The part of the `webgpu` package that is used; its own types clash with TypeScript's. */
interface DawnModule {
  readonly create: (options: readonly string[]) => GPU;
  readonly globals: object;
}

/** Dawn crashes when an object that `create` gave is collected. */
const instances: GPU[] = [];

/**
 * Makes a Dawn the `navigator.gpu` of this process, where peers look for it, with the constants that they use.
 *
 * Dawn's binding calls `setImmediate` in a tight loop during a wait, which takes a core from a device that
 * computes on the cores. With `pauses` it pauses for a millisecond instead from here on, for every wait in the process.
 */
export async function installNavigator({ pauses }: { readonly pauses: boolean }): Promise<void> {
  const name = 'webgpu';
  const { create, globals } = (await import(name)) as DawnModule;
  const gpu = create(['disable-dawn-features=timestamp_quantization']);
  instances.push(gpu);
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu, userAgent: 'Node' }, configurable: true });
  if (pauses) {
    globalThis.setImmediate = ((callback: () => void) => setTimeout(callback, 1)) as unknown as typeof setImmediate;
  }
}

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
