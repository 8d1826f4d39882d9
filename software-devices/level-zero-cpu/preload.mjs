// @ts-check
import { driver, readyDriver } from './lib/cache.mjs';

/**
 * Makes this very process's Level Zero loader use the driver for the CPU, and no other. Call it before the first
 * `zeInit`, which decides for the whole process; again, it does nothing.
 *
 * @returns {string} what the device is, for people
 * @throws {Error} where the driver is not set up
 */
export function useDriver() {
  const stamp = readyDriver();
  if (!stamp)
    throw new Error('the Level Zero driver is not set up; run: node software-devices/level-zero-cpu/setup.mjs');
  process.env['ZE_ENABLE_ALT_DRIVERS'] = driver;
  return stamp.version;
}
