import type { LevelZeroApi } from '../ffi/prototypes.ts';
import { RESULTS, resultError } from '../ffi/result.ts';
import { ENUMS, Struct } from '../ffi/structs.ts';
import type { DeviceTraits } from '../kernels/recorder.ts';
import type { ListedDevice } from './list-devices.ts';

/** What planning needs to know of a device, asked of its driver. */
export function readTraits(api: LevelZeroApi, { device, isCpu, computeUnits }: ListedDevice): DeviceTraits {
  const ask = (result: number, call: string): void => {
    if (result !== RESULTS.SUCCESS) throw resultError(result, call);
  };
  const general = new Struct('ze_device_properties_t');
  ask(api.zeDeviceGetProperties(device, general.bytes), 'zeDeviceGetProperties');
  const compute = new Struct('ze_device_compute_properties_t');
  ask(api.zeDeviceGetComputeProperties(device, compute.bytes), 'zeDeviceGetComputeProperties');
  const modules = new Struct('ze_device_module_properties_t');
  ask(api.zeDeviceGetModuleProperties(device, modules.bytes), 'zeDeviceGetModuleProperties');
  const has = (flag: number): boolean => (modules.get('flags') & flag) !== 0;
  const sizes = Math.min(compute.get('numSubGroupSizes'), ENUMS.ZE_SUBGROUPSIZE_COUNT);
  return {
    isCpuLike: isCpu,
    maxGroupSize: compute.get('maxTotalGroupSize'),
    maxLocalBytes: compute.get('maxSharedLocalMemory'),
    subgroupSizes: Array.from({ length: sizes }, (_, index) => compute.get('subGroupSizes', index)),
    hasF64: has(ENUMS.ZE_DEVICE_MODULE_FLAG_FP64),
    hasF16: has(ENUMS.ZE_DEVICE_MODULE_FLAG_FP16),
    computeUnits,
    maxAllocationBytes: Math.min(general.get('maxMemAllocSize'), Number.MAX_SAFE_INTEGER),
    maxGroups: [compute.get('maxGroupCountX'), compute.get('maxGroupCountY'), compute.get('maxGroupCountZ')],
  };
}
