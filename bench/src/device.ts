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
 * @throws {Error} for a name that is none, and where the device cannot be made
 */
export async function useDevice(name: string | undefined): Promise<void> {
  if (name === undefined || name === 'system') return;
  if (!DEVICES.some((device) => device === name)) throw new Error(`--device takes ${DEVICES.join(', ')}, not ${name}`);
  const { setUp, preloadVulkan } = await load();
  if (setUp([name]).length > 0) throw new Error(`${name} could not be set up`);
  preloadVulkan(name);
}

/**
 * Makes the CPU driver the Level Zero of this process, built first if need be.
 *
 * @throws {Error} where it cannot be built
 */
export async function useLevelZeroCpu(): Promise<void> {
  const folder = new URL('../../software-devices/level-zero-cpu/', import.meta.url);
  const { setUp } = (await import(new URL('setup.mjs', folder).href)) as { setUp: () => boolean };
  const { useDriver } = (await import(new URL('preload.mjs', folder).href)) as { useDriver: () => void };
  if (!setUp()) throw new Error('the CPU driver of Level Zero could not be built');
  useDriver();
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

/** Only a checkout has them, so they are looked for when they are asked for. */
async function load(): Promise<SoftwareDevices> {
  const folder = new URL('../../software-devices/vulkan/', import.meta.url);
  const modules = await Promise.all(['setup.mjs', 'preload.mjs'].map((file) => import(new URL(file, folder).href)));
  return Object.assign({}, ...modules) as SoftwareDevices;
}
