import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Struct } from '../ffi/structs.ts';
import { BinaryCache } from './binary-cache.ts';

let folder: string;
const warnings: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concord-binaries-'));
  warnings.length = 0;
  vi.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const kept = { binary: Uint8Array.of(10, 0, 255, 10, 13), log: 'line\nand "another"' };
const file = (): string => join(folder, readdirSync(folder)[0] as string);

it('gives back what was kept, for a compilation with the same', () => {
  new BinaryCache(folder, 'driver 1').keep('key', kept);
  const found = new BinaryCache(folder, 'driver 1').find('key');
  expect({ ...found, binary: [...(found?.binary ?? [])] }).toEqual({ ...kept, binary: [...kept.binary] });
  expect(new BinaryCache(folder, 'driver 2').find('key')).toBeUndefined();
  expect(new BinaryCache(folder, 'driver 1').find('another')).toBeUndefined();
  expect(readdirSync(folder)).toHaveLength(1);
  expect(warnings).toEqual([]);
});

it('is of one driver version and one device', () => {
  vi.stubEnv('XDG_CACHE_HOME', folder);
  const plain = { driverVersion: 7, vendorId: 0x8086, deviceId: 3, name: 'GPU' };
  const opened = (change: Partial<typeof plain>): BinaryCache => {
    const { name, ...numbers } = { ...plain, ...change };
    const fill =
      (type: 'ze_driver_properties_t' | 'ze_device_properties_t') =>
      (_: unknown, bytes: Uint8Array): number => {
        const own = new Struct(type);
        for (const [field, value] of Object.entries(numbers)) {
          if (field.startsWith('driver') === (type === 'ze_driver_properties_t')) own.set(field as never, value);
        }
        bytes.set(own.bytes);
        return 0;
      };
    const api = {
      zeDriverGetProperties: fill('ze_driver_properties_t'),
      zeDeviceGetProperties: fill('ze_device_properties_t'),
    };
    return BinaryCache.open({ api } as never, { driver: 1, device: 2, info: { name } } as never) as BinaryCache;
  };
  opened({}).keep('key', kept);
  expect(opened({}).find('key')?.log).toBe(kept.log);
  for (const change of [{ driverVersion: 8 }, { vendorId: 1 }, { deviceId: 4 }, { name: 'another' }]) {
    expect(opened(change).find('key'), JSON.stringify(change)).toBeUndefined();
  }
  vi.unstubAllEnvs();
});

it.each<[string, () => void]>([
  ['longer', () => appendFileSync(file(), 'x')],
  ['shorter', () => truncateSync(file(), readFileSync(file()).byteLength - 1)],
  ['without its header', () => writeFileSync(file(), kept.binary)],
  ['empty', () => writeFileSync(file(), '')],
  [
    'changed in one byte',
    () => writeFileSync(file(), readFileSync(file()).fill(9, readFileSync(file()).byteLength - 1)),
  ],
  [
    'of another format',
    () => writeFileSync(file(), readFileSync(file(), 'latin1').replace('"version":1', '"version":2'), 'latin1'),
  ],
])('ignores a file that is %s, with one warning, and replaces it', (_, damage) => {
  const cache = new BinaryCache(folder, 'driver');
  cache.keep('key', kept);
  damage();
  expect(cache.find('key')).toBeUndefined();
  expect(cache.find('key')).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining(`${file()} is damaged; it is compiled again`)]);
  cache.keep('key', kept);
  expect(cache.find('key')?.log).toBe(kept.log);
});

it('says what the driver does not take', () => {
  const cache = new BinaryCache(folder, 'driver');
  cache.keep('key', kept);
  cache.refuse('key', 'INVALID_NATIVE_BINARY');
  expect(warnings).toEqual([expect.stringContaining('is not taken by the driver (INVALID_NATIVE_BINARY)')]);
});

it('keeps nothing where nothing can be written, and says nothing', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const cache = new BinaryCache(join(file, 'modules'), 'driver');
  cache.keep('key', kept);
  expect(cache.find('key')).toBeUndefined();
  expect(warnings).toEqual([]);
});
