import { BackendError, type DeviceInfo, type DeviceType } from '@concord/backend-core';
import type { DeviceHandle, DriverHandle, LevelZeroApi } from '../ffi/prototypes.ts';
import { failure, handles, initialize } from '../ffi/initialize.ts';
import { type LevelZeroLibrary, unavailable } from '../ffi/load.ts';
import { resultError, RESULTS } from '../ffi/result.ts';
import { ENUMS, Struct, structSize } from '../ffi/structs.ts';
import type { DeviceChoice } from './options.ts';

/** A device of Level Zero, or a part of one. */
export interface ListedDevice {
  readonly driver: DriverHandle;
  readonly device: DeviceHandle;
  readonly info: DeviceInfo;
  /** True if it runs kernels on the CPU. */
  readonly isCpu: boolean;
  /** Xe cores, or threads of a CPU. */
  readonly computeUnits: number;
  /** Tiles that can be used one by one. Empty for most devices, and for the parts themselves. */
  readonly subDevices: readonly ListedDevice[];
}

/**
 * The devices of all drivers: GPUs first, then CPUs, and software last. The driver heeds `ZE_AFFINITY_MASK`.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE if there is none
 */
export function listDevices(library: LevelZeroLibrary): readonly ListedDevice[] {
  const { api } = library;
  const drivers = initialize(library);
  const found = drivers.flatMap((driver) =>
    handles((count, list) => api.zeDeviceGet(driver, count, list)).handles.map((device) =>
      describe(api, driver, device as DeviceHandle, true),
    ),
  );
  const devices = found.filter((device) => device !== undefined);
  if (devices.length === 0) throw failure(library, 'no driver lists a device that computes');
  return devices.sort((a, b) => rank(a) - rank(b));
}

function rank({ info, isCpu }: ListedDevice): number {
  return info.type === 'software' ? 2 : isCpu ? 1 : 0;
}

function describe(
  api: LevelZeroApi,
  driver: DriverHandle,
  device: DeviceHandle,
  withParts: boolean,
): ListedDevice | undefined {
  const properties = new Struct('ze_device_properties_t');
  must(api.zeDeviceGetProperties(device, properties.bytes), 'zeDeviceGetProperties');
  const kind = properties.get('type');
  // Others, such as NPUs, do not run SPIR-V kernels.
  if (kind !== ENUMS.ZE_DEVICE_TYPE_GPU && kind !== ENUMS.ZE_DEVICE_TYPE_CPU) return undefined;
  const isCpu = kind === ENUMS.ZE_DEVICE_TYPE_CPU;
  const name = properties.text('name') || 'Level Zero device';
  const parts = withParts
    ? handles((count, list) => api.zeDeviceGetSubDevices(device, count, list)).handles.map((part) =>
        describe(api, driver, part as DeviceHandle, false),
      )
    : [];
  const subDevices = parts.filter((part) => part !== undefined);
  // A GPU's subslices are its Xe cores. A CPU has one, with its threads as execution units.
  const perSubslice = isCpu ? properties.get('numEUsPerSubslice') : 1;
  const subslices = properties.get('numSlices') * properties.get('numSubslicesPerSlice');
  const computeUnits = Math.max(1, subslices * perSubslice);
  const memoryBytes = memoryOf(api, device);
  const info: DeviceInfo = {
    vendor: vendorName(properties.get('vendorId')),
    name,
    type: deviceType(isCpu, name, properties.get('flags')),
    driver: driverText(api, driver),
    ...(memoryBytes > 0 ? { memoryBytes } : {}),
    computeUnits,
    subDevices: subDevices.length,
  };
  return { driver, device, info, isCpu, computeUnits, subDevices };
}

const SOFTWARE = /concord|pocl|software|emulat/i;

function deviceType(isCpu: boolean, name: string, flags: number): DeviceType {
  if (SOFTWARE.test(name)) return 'software';
  if (isCpu) return 'cpu';
  return (flags & ENUMS.ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) !== 0 ? 'integrated' : 'discrete';
}

/** Names of vendors by PCI or Khronos number. */
const VENDORS: Readonly<Partial<Record<number, string>>> = { 0x8086: 'intel', 0x10006: 'pocl' };

function vendorName(vendorId: number): string {
  return VENDORS[vendorId] ?? `0x${vendorId.toString(16)}`;
}

function memoryOf(api: LevelZeroApi, device: DeviceHandle): number {
  const call = 'zeDeviceGetMemoryProperties';
  const listed = listStructs('ze_device_memory_properties_t', (count, all) => api[call](device, count, all));
  must(listed.result, call);
  return listed.structs.reduce((sum, memory) => sum + memory.get('totalSize'), 0);
}

/** The structs that a function lists when it is asked twice: how many, then which. */
export function listStructs<Name extends Parameters<typeof structSize>[0]>(
  name: Name,
  list: (count: Uint32Array, all: Uint8Array | null) => number,
): { readonly result: number; readonly structs: readonly Struct<Name>[] } {
  const count = new Uint32Array(1);
  const result = list(count, null);
  const [length = 0] = count;
  if (result !== RESULTS.SUCCESS || length === 0) return { result, structs: [] };
  const size = structSize(name);
  const all = new Uint8Array(length * size);
  const structs = Array.from(
    { length },
    (_, index) => new Struct(name, all.subarray(index * size, (index + 1) * size)),
  );
  return { result: list(count, all), structs };
}

/** Names the versions, such as `Level Zero 1.3, driver 1.3.27642`. */
function driverText(api: LevelZeroApi, driver: DriverHandle): string {
  const properties = new Struct('ze_driver_properties_t');
  must(api.zeDriverGetProperties(driver, properties.bytes), 'zeDriverGetProperties');
  const version = properties.get('driverVersion');
  const apiVersion = new Uint32Array(1);
  must(api.zeDriverGetApiVersion(driver, apiVersion), 'zeDriverGetApiVersion');
  const [apiNumber = 0] = apiVersion;
  // As Intel's driver packs it; others put a plain number or the same.
  const packed = `${version >>> 24}.${(version >>> 16) & 0xff}.${version & 0xffff}`;
  return `Level Zero ${apiNumber >>> 16}.${apiNumber & 0xffff}, driver ${packed}`;
}

function must(result: number, call: string): void {
  if (result === RESULTS.SUCCESS) return;
  const cause = resultError(result, call);
  throw unavailable('failed', `a device does not describe itself: ${cause.detail}`, 'restart the process', cause);
}

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
