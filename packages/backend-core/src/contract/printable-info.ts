import { printable } from '../errors/printable.ts';
import type { DeviceInfo } from './capabilities.ts';

/** A copy of what is known of a device whose texts, which are a driver's, have no control characters. */
export function printableInfo(device: DeviceInfo): DeviceInfo {
  const { vendor, name, driver } = device;
  return { ...device, vendor: printable(vendor), name: printable(name), driver: printable(driver) };
}
