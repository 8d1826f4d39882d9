import { BackendError } from '@concord/backend-core';
import { unavailable } from '../ffi/load.ts';
import type { ListedDevice } from './list-devices.ts';
import type { DeviceChoice } from './options.ts';

/**
 * The device that a choice means.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an index or name that no device has; BACKEND_UNAVAILABLE when only software is
 *   here and it is refused
 */
export function chooseDevice(devices: readonly ListedDevice[], choice: DeviceChoice = {}): ListedDevice {
  const names = devices.map(({ info }, index) => `${index}: ${info.name}`).join(', ');
  const meant = devices.filter((device, index) => isMeant(device, index, choice.device));
  if (meant.length === 0) {
    throw new BackendError('INVALID_ARGUMENT', `there is no device ${JSON.stringify(choice.device)}`, {
      hint: `the devices are ${names}`,
    });
  }
  const chosen = meant.find(({ info }) => choice.software !== 'refuse' || info.type !== 'software');
  if (chosen === undefined) {
    const message = `only software devices are here (${names}), and they are refused`;
    throw unavailable('no-device', message, "install a GPU driver, or pass software: 'allow'");
  }
  return choice.subDevice === undefined ? chosen : partOf(chosen, choice.subDevice);
}

function isMeant({ info }: ListedDevice, index: number, wanted: DeviceChoice['device']): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === 'number') return wanted === index;
  return `${info.name} ${info.driver}`.toLowerCase().includes(wanted.toLowerCase());
}

function partOf({ info, subDevices }: ListedDevice, index: number): ListedDevice {
  const part = subDevices[index];
  if (part !== undefined) return part;
  throw new BackendError('INVALID_ARGUMENT', `${info.name} has no sub-device ${index}`, {
    hint: subDevices.length === 0 ? 'it has none at all' : `it has ${subDevices.length}, from 0 on`,
  });
}
