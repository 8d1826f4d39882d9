import { existsSync } from 'node:fs';
import { NotHere } from './exit.ts';
import { oneOf } from './options.ts';

/** Values of `--device`. */
export const DEVICES = ['lavapipe', 'swiftshader', 'system'] as const;

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
