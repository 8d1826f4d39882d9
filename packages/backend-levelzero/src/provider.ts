import { type BackendProvider, isBackendError, type ProbeResult } from '@concord/backend-core';
import { chooseDevice, listDevices } from './device/list-devices.ts';
import { checkOptions, type LevelZeroOptions } from './device/options.ts';
import { loadLevelZero } from './ffi/load.ts';
import { LevelZeroBackend } from './levelzero-backend.ts';

/** The priority, above WebGPU's: if both reach the same GPU of Intel's, this one reaches it directly. */
const PRIORITY = 20;

/**
 * The provider of the Level Zero backend, on the device that the options mean.
 *
 * @throws {BackendError} INVALID_ARGUMENT for unknown options, or out of range
 */
export function levelZero(options: LevelZeroOptions = {}): BackendProvider {
  checkOptions(options);
  return {
    name: 'level-zero',
    priority: PRIORITY,
    contractVersion: 3,
    probe: () => probe(options),
    create: (createOptions) => new LevelZeroBackend({ ...options, ...createOptions }),
  };
}

async function probe(options: LevelZeroOptions): Promise<ProbeResult> {
  try {
    const devices = listDevices(await loadLevelZero(options.library));
    return { available: true, devices: [chooseDevice(devices, options).info] };
  } catch (error) {
    if (!isBackendError(error)) return { available: false, reason: 'failed', message: String(error) };
    return { available: false, reason: error.reason ?? 'failed', message: error.detail, hint: error.hint };
  }
}
