import type { DriverHandle } from '../ffi/prototypes.ts';
import type { LevelZeroLibrary } from '../ffi/load.ts';
import { resultError, RESULTS } from '../ffi/result.ts';
import { type ListedDevice, listStructs } from './list-devices.ts';
import { ENUMS, NativeBytes, Struct, structSize } from '../ffi/structs.ts';
import { type DeviceTraits, smallestLanes } from '../kernels/recorder.ts';

/** Returns whether a driver has an extension of Level Zero. */
function hasExtension({ api }: LevelZeroLibrary, driver: DriverHandle, name: string): boolean {
  const { result, structs } = listStructs('ze_driver_extension_properties_t', (count, all) =>
    api.zeDriverGetExtensionProperties(driver, count, all),
  );
  return result === RESULTS.SUCCESS && structs.some((extension) => extension.text('name') === name);
}

/** The identity of a device, as far as its driver tells. */
interface ReportedTraits extends Omit<DeviceTraits, 'preferences'> {
  /** The driver's own limit; larger allocations want its exception. */
  readonly plainAllocationBytes: number;
}

/** The facts about a device that planning needs, from its driver. */
export function readTraits(library: LevelZeroLibrary, listed: ListedDevice): ReportedTraits {
  const { api } = library;
  const { device, isCpu, computeUnits } = listed;
  const general = new Struct('ze_device_properties_t');
  ask(api.zeDeviceGetProperties(device, general.bytes), 'zeDeviceGetProperties');
  const compute = new Struct('ze_device_compute_properties_t');
  ask(api.zeDeviceGetComputeProperties(device, compute.bytes), 'zeDeviceGetComputeProperties');
  const { flags, products } = moduleProperties(library, listed);
  const sizes = Math.min(compute.get('numSubGroupSizes'), ENUMS.ZE_SUBGROUPSIZE_COUNT);
  const subgroupSizes = Array.from({ length: sizes }, (_, index) => compute.get('subGroupSizes', index));
  const isIntel = general.get('vendorId') === INTEL;
  const hasEngine = isIntel && (products & DOT_PRODUCTS.SYSTOLIC) !== 0;
  const isKnown = isIntel && products === 0 && hasMatrixEngine(general.get('deviceId'));
  return {
    isCpuLike: isCpu,
    maxGroupSize: compute.get('maxTotalGroupSize'),
    maxLocalBytes: compute.get('maxSharedLocalMemory'),
    subgroupSizes,
    hasF64: (flags & ENUMS.ZE_DEVICE_MODULE_FLAG_FP64) !== 0,
    hasF16: (flags & ENUMS.ZE_DEVICE_MODULE_FLAG_FP16) !== 0,
    hasLargeRegisterFile: hasEngine || isKnown,
    matrixEngine: hasEngine || isKnown ? smallestLanes({ subgroupSizes }) : undefined,
    computeUnits,
    plainAllocationBytes: general.get('maxMemAllocSize'),
    maxAllocationBytes: maxAllocationBytes(library, listed, general.get('maxMemAllocSize')),
    maxGroups: [compute.get('maxGroupCountX'), compute.get('maxGroupCountY'), compute.get('maxGroupCountZ')],
  };
}

const INTEL = 0x8086;

/** Flags of Intel's extension `ZE_intel_experimental_device_module_dp_properties`. */
const DOT_PRODUCTS = { SYSTOLIC: 2 } as const;

/**
 * Returns whether a device has matrix engines, by its PCI number: for drivers older than the extension that tells it (2023), which
 * know two families that have them, Xe-HPG (Alchemist) and Xe-HPC (Ponte Vecchio; not its variant 0x0bd4).
 */
function hasMatrixEngine(deviceId: number): boolean {
  const families: readonly (readonly [first: number, last: number])[] = [
    [0x4f80, 0x4f88],
    [0x5690, 0x56c2],
    [0x0b69, 0x0b6e],
    [0x0bd0, 0x0be5],
  ];
  return deviceId !== 0x0bd4 && families.some(([first, last]) => deviceId >= first && deviceId <= last);
}

/** Flags of a device's compiler, and of the products that it has instructions for: 0 where the driver does not say. */
function moduleProperties({ api, koffi }: LevelZeroLibrary, { device }: ListedDevice) {
  const bytes = structSize('ze_intel_device_module_dp_exp_properties_t');
  const memory = new NativeBytes(koffi, bytes);
  try {
    const dotProducts = new Struct('ze_intel_device_module_dp_exp_properties_t', memory.bytes);
    const modules = new Struct('ze_device_module_properties_t').set('pNext', memory.address);
    ask(api.zeDeviceGetModuleProperties(device, modules.bytes), 'zeDeviceGetModuleProperties');
    return { flags: modules.get('flags'), products: dotProducts.get('flags') };
  } finally {
    memory.free();
  }
}

/** Bytes of the largest allocation: all of the memory where the driver has an exception to its own limit. */
function maxAllocationBytes(library: LevelZeroLibrary, { driver, info }: ListedDevice, limit: number): number {
  const isRelaxed = hasExtension(library, driver, 'ZE_experimental_relaxed_allocation_limits');
  return Math.min(isRelaxed ? Math.max(limit, info.memoryBytes ?? 0) : limit, Number.MAX_SAFE_INTEGER);
}

function ask(result: number, call: string): void {
  if (result !== RESULTS.SUCCESS) throw resultError(result, call);
}
