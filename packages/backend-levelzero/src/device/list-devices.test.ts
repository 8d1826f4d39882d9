import type { DeviceType } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { chooseDevice, type ListedDevice } from './list-devices.ts';
import { checkOptions } from './options.ts';

function listed(name: string, type: DeviceType, subDevices: readonly ListedDevice[] = []): ListedDevice {
  const info = { vendor: 'intel', name, type, driver: 'Level Zero 1.3, driver 1.3.27642' };
  return {
    driver: 1n,
    device: 2n,
    info,
    isCpu: type === 'cpu',
    computeUnits: 4,
    subDevices,
  } as unknown as ListedDevice;
}

const TILES = [listed('Max 1550 tile 0', 'discrete'), listed('Max 1550 tile 1', 'discrete')];
const ALL = [
  listed('Data Center GPU Max 1550', 'discrete', TILES),
  listed('Iris Xe', 'integrated'),
  listed('Core', 'cpu'),
  listed('Concord Level Zero CPU', 'software'),
];

const name = (...args: Parameters<typeof chooseDevice>): string => chooseDevice(...args).info.name;

describe('a device is chosen', () => {
  it.each<[string, Parameters<typeof chooseDevice>[1], string]>([
    ['the first by default', {}, 'Data Center GPU Max 1550'],
    ['by index', { device: 1 }, 'Iris Xe'],
    ['by part of a name in either case', { device: 'iris' }, 'Iris Xe'],
    ['by part of the driver', { device: 'level zero cpu' }, 'Concord Level Zero CPU'],
    ['by tile', { subDevice: 1 }, 'Max 1550 tile 1'],
    ['with software refused', { software: 'refuse' }, 'Data Center GPU Max 1550'],
  ])('%s', (_, choice, wanted) => {
    expect(name(ALL, choice)).toBe(wanted);
  });

  it('and what is not there is listed', () => {
    expect(() => name(ALL, { device: 9 })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        detail: 'there is no device 9',
        hint: expect.stringContaining('0: Data Center GPU Max 1550, 1: Iris Xe'),
      }),
    );
    expect(() => name(ALL, { device: 'geforce' })).toThrow('there is no device "geforce"');
    expect(() => name(ALL, { subDevice: 2 })).toThrow(expect.objectContaining({ hint: 'it has 2, from 0 on' }));
    expect(() => name(ALL, { device: 1, subDevice: 0 })).toThrow('Iris Xe has no sub-device 0');
  });

  it('but not software, where it is refused', () => {
    expect(() => name(ALL.slice(3), { software: 'refuse' })).toThrow(
      expect.objectContaining({ code: 'BACKEND_UNAVAILABLE', reason: 'no-device' }),
    );
  });
});

it.each([
  [{ device: -1 }, 'device must be an index or part of a name, got -1'],
  [{ device: 1.5 }, 'device must be an index or part of a name, got 1.5'],
  [{ device: '' }, 'device must be an index or part of a name, got ""'],
  [{ device: {} }, 'device must be an index or part of a name, got [object Object]'],
  [{ subDevice: '0' }, 'subDevice must be an index, got "0"'],
  [{ software: 'no' }, 'software must be allow or refuse, got "no"'],
  [{ library: 3 }, 'library must be a path or name, got 3'],
  [{ maxPooledBytes: -1 }, 'maxPooledBytes must be an integer of at least 0, got -1'],
])('options %j are refused', (options, message) => {
  expect(() => checkOptions(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', detail: message }),
  );
});
