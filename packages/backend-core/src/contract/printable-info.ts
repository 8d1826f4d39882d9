import { printable } from '../errors/printable.ts';
import type { DeviceInfo } from './capabilities.ts';

/** Returns a copy of a device's facts whose texts, which are a driver's, have no control characters. */
export function printableInfo(device: DeviceInfo): DeviceInfo {
  const { vendor, name, driver } = device;
  return { ...device, vendor: printable(vendor), name: printable(name), driver: printable(driver) };
}
