import type { DeviceInfo } from '../contract/capabilities.ts';
import { describe } from '../contract/checks.ts';
import { printableInfo } from '../contract/printable-info.ts';
import { BackendError, type UnavailableReason } from '../errors/backend-error.ts';
import { printable } from '../errors/printable.ts';
import type { ProbeResult } from './provider.ts';

const REASONS: readonly UnavailableReason[] = [
  'wrong-platform',
  'package-missing',
  'library-missing',
  'library-incompatible',
  'permission-denied',
  'no-device',
  'disabled',
  'failed',
];

/**
 * The result of a probe, as a copy with the right types.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE where it is no answer
 */
export function readProbe(answer: unknown): ProbeResult {
  if (typeof answer !== 'object' || answer === null) throw garbage(describe(answer));
  const { available, devices, reason, message, hint } = answer as Record<string, unknown>;
  if (available === true) {
    if (!Array.isArray(devices)) throw garbage(`devices ${describe(devices)}`);
    const read = Array.from(devices as unknown[], readDevice);
    if (read.length > 0) return { available, devices: read };
    return { available: false, reason: 'no-device', message: 'no device found' };
  }
  if (available !== false) throw garbage(`available ${describe(available)}`);
  return {
    available,
    reason: REASONS.find((known) => known === reason) ?? 'failed',
    message: typeof message === 'string' ? printable(message) : `probe gave message ${describe(message)}`,
    hint: typeof hint === 'string' ? printable(hint) : undefined,
  };
}

function readDevice(device: unknown): DeviceInfo {
  const fields = typeof device === 'object' && device !== null ? (device as Record<keyof DeviceInfo, unknown>) : {};
  const { vendor, name, type, driver } = fields as Record<keyof DeviceInfo, unknown>;
  for (const [field, value] of Object.entries({ vendor, name, type, driver })) {
    if (typeof value !== 'string') throw garbage(`a device whose ${field} is ${describe(value)}`);
  }
  return printableInfo({ ...fields, vendor, name, type, driver } as DeviceInfo);
}

function garbage(what: string): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', `probe gave ${what}`, { reason: 'failed' });
}
