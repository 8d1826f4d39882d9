import type { DriverHandle } from '../ffi/handles.ts';
import type { LevelZeroLibrary } from '../ffi/load.ts';
import { RESULTS } from '../ffi/result.ts';
import { structs } from './list-devices.ts';

/** Returns whether a driver has an extension of Level Zero. */
export function hasExtension({ api }: LevelZeroLibrary, driver: DriverHandle, name: string): boolean {
  const count = new Uint32Array(1);
  const call = 'zeDriverGetExtensionProperties';
  if (api[call](driver, count, null) !== RESULTS.SUCCESS) return false;
  const extensions = structs('ze_driver_extension_properties_t', count[0] ?? 0);
  const [first] = extensions;
  if (first === undefined || api[call](driver, count, new Uint8Array(first.bytes.buffer)) !== RESULTS.SUCCESS)
    return false;
  return extensions.some((extension) => extension.text('name') === name);
}
