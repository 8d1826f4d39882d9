// @ts-check
import { driver, readyDriver } from '../../software-devices/level-zero-cpu/lib/cache.mjs';
import { setUp } from '../../software-devices/level-zero-cpu/setup.mjs';

/**
 * The additions to a program's environment so that Level Zero finds the CPU driver. Nothing, where the driver is not there.
 * An environment that names its own driver is left alone.
 *
 * @param {{ isWanted: boolean }} options - `isWanted`: the program will use Level Zero; build the driver if need be
 * @returns {Record<string, string>}
 */
export function softwareLevelZero({ isWanted }) {
  if (!isWanted || process.env['ZE_ENABLE_ALT_DRIVERS']) return {};
  setUp();
  return readyDriver() === undefined ? {} : { ZE_ENABLE_ALT_DRIVERS: driver };
}
