import type { Koffi } from './load.ts';

/** The type of a field. `text` is an array of `char` of that many bytes that a zero ends. */
export type FieldType = 'u32' | 'u64' | 'pointer' | `text ${number}`;

/** Layout of a struct of `ze_api.h`. */
export interface StructLayout {
  readonly size: number;
  /** The `ze_structure_type_t`; none for the few that have no such field. */
  readonly stype: number | undefined;
  /** Byte offset and type by the field's name in the header. */
  readonly fields: Readonly<Record<string, readonly [offset: number, type: FieldType]>>;
}

/** The structs that are used. A test compares them with the header by compiling a C program. */
export const STRUCTS = {
  ze_driver_properties_t: { size: 40, stype: 0x1, fields: { driverVersion: [32, 'u32'] } },
  ze_device_properties_t: {
    size: 368,
    stype: 0x3,
    fields: {
      type: [16, 'u32'],
      vendorId: [20, 'u32'],
      deviceId: [24, 'u32'],
      flags: [28, 'u32'],
      subdeviceId: [32, 'u32'],
      maxMemAllocSize: [40, 'u64'],
      numThreadsPerEU: [56, 'u32'],
      numEUsPerSubslice: [64, 'u32'],
      numSubslicesPerSlice: [68, 'u32'],
      numSlices: [72, 'u32'],
      timerResolution: [80, 'u64'],
      kernelTimestampValidBits: [92, 'u32'],
      name: [112, 'text 256'],
    },
  },
  ze_device_compute_properties_t: {
    size: 88,
    stype: 0x4,
    fields: {
      maxTotalGroupSize: [16, 'u32'],
      maxGroupCountX: [32, 'u32'],
      maxGroupCountY: [36, 'u32'],
      maxGroupCountZ: [40, 'u32'],
      maxSharedLocalMemory: [44, 'u32'],
      numSubGroupSizes: [48, 'u32'],
      subGroupSizes: [52, 'u32'],
    },
  },
  ze_device_module_properties_t: {
    size: 64,
    stype: 0x5,
    fields: { pNext: [8, 'pointer'], spirvVersionSupported: [16, 'u32'], flags: [20, 'u32'] },
  },
  ze_command_queue_group_properties_t: { size: 40, stype: 0x6, fields: { flags: [16, 'u32'], numQueues: [32, 'u32'] } },
  ze_device_memory_properties_t: { size: 296, stype: 0x7, fields: { totalSize: [32, 'u64'] } },
  ze_context_desc_t: { size: 24, stype: 0xd, fields: {} },
  ze_command_queue_desc_t: {
    size: 40,
    stype: 0xe,
    fields: { ordinal: [16, 'u32'], index: [20, 'u32'], mode: [28, 'u32'] },
  },
  ze_command_list_desc_t: { size: 24, stype: 0xf, fields: { commandQueueGroupOrdinal: [16, 'u32'] } },
  ze_event_pool_desc_t: { size: 24, stype: 0x10, fields: { flags: [16, 'u32'], count: [20, 'u32'] } },
  ze_event_desc_t: { size: 32, stype: 0x11, fields: { index: [16, 'u32'], signal: [20, 'u32'] } },
  ze_fence_desc_t: { size: 24, stype: 0x12, fields: {} },
  ze_driver_extension_properties_t: { size: 260, stype: undefined, fields: { name: [0, 'text 256'] } },
  ze_device_mem_alloc_desc_t: { size: 24, stype: 0x15, fields: { pNext: [8, 'pointer'], ordinal: [20, 'u32'] } },
  ze_relaxed_allocation_limits_exp_desc_t: { size: 24, stype: 0x20001, fields: { flags: [16, 'u32'] } },
  ze_host_mem_alloc_desc_t: { size: 24, stype: 0x16, fields: {} },
  ze_module_desc_t: {
    size: 56,
    stype: 0x1b,
    fields: {
      format: [16, 'u32'],
      inputSize: [24, 'u64'],
      pInputModule: [32, 'pointer'],
      pBuildFlags: [40, 'pointer'],
      pConstants: [48, 'pointer'],
    },
  },
  ze_module_constants_t: {
    size: 24,
    stype: undefined,
    fields: { numConstants: [0, 'u32'], pConstantIds: [8, 'pointer'], pConstantValues: [16, 'pointer'] },
  },
  ze_kernel_desc_t: { size: 32, stype: 0x1d, fields: { pKernelName: [24, 'pointer'] } },
  ze_kernel_properties_t: {
    size: 96,
    stype: 0x1e,
    fields: {
      numKernelArgs: [16, 'u32'],
      requiredGroupSizeX: [20, 'u32'],
      requiredGroupSizeY: [24, 'u32'],
      requiredGroupSizeZ: [28, 'u32'],
    },
  },
} as const;

/** Names that the header of an older Level Zero lacks: of 1.10, and of Intel's driver alone (`ze_intel_gpu.h`). */
const NEWER_STRUCTS = {
  ze_init_driver_type_desc_t: { size: 24, stype: 0x20021, fields: { flags: [16, 'u32'] } },
  ze_intel_device_module_dp_exp_properties_t: { size: 24, stype: 0x30013, fields: { flags: [16, 'u32'] } },
} as const;

/** Values of enumerations and flags, by their names in the header. */
export const ENUMS = {
  ZE_DEVICE_TYPE_GPU: 1,
  ZE_DEVICE_TYPE_CPU: 2,
  ZE_DEVICE_PROPERTY_FLAG_INTEGRATED: 1,
  ZE_DEVICE_MODULE_FLAG_FP16: 1,
  ZE_DEVICE_MODULE_FLAG_FP64: 2,
  ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE: 1,
  ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS: 2,
  ZE_MODULE_FORMAT_IL_SPIRV: 0,
  ZE_MODULE_FORMAT_NATIVE: 1,
  ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE: 1,
  ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST: 1,
  ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE: 2,
  ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED: 4,
  ZE_SUBGROUPSIZE_COUNT: 8,
  ZE_EVENT_POOL_FLAG_HOST_VISIBLE: 1,
  ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP: 4,
  ZE_EVENT_SCOPE_FLAG_HOST: 4,
} as const;

type Layouts = typeof STRUCTS & typeof NEWER_STRUCTS;

/** Name of a struct. */
type StructName = keyof Layouts;

type FieldName<Name extends StructName> = keyof Layouts[Name]['fields'] & string;

const LAYOUTS: Readonly<Record<StructName, StructLayout>> = { ...STRUCTS, ...NEWER_STRUCTS };

/** Bytes of a struct. */
export function structSize(name: StructName): number {
  return LAYOUTS[name].size;
}

/** A struct in memory: zeros, but for its type and what is set. `bytes` is what functions of the driver take. */
export class Struct<Name extends StructName> {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #layout: StructLayout;

  /**
   * @param bytes - where it lies; new memory by default
   * @param stype - another type than its own, which changes what its fields mean
   */
  constructor(
    name: Name,
    bytes: Uint8Array = new Uint8Array(new ArrayBuffer(LAYOUTS[name].size)),
    stype: number | undefined = LAYOUTS[name].stype,
  ) {
    this.#layout = LAYOUTS[name];
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, this.#layout.size);
    if (stype !== undefined) this.#view.setUint32(0, stype, true);
  }

  set(field: FieldName<Name>, value: number | bigint): this {
    const [offset, type] = this.#field(field);
    if (type === 'u32') this.#view.setUint32(offset, Number(value), true);
    else this.#view.setBigUint64(offset, BigInt(value), true);
    return this;
  }

  /** A number; 64-bit ones above 2^53 are rounded. `index` counts elements of an array. */
  get(field: FieldName<Name>, index = 0): number {
    const [offset, type] = this.#field(field);
    if (type === 'u32') return this.#view.getUint32(offset + 4 * index, true);
    return Number(this.#view.getBigUint64(offset + 8 * index, true));
  }

  /** An array of characters up to its zero. */
  text(field: FieldName<Name>): string {
    const [offset, type] = this.#field(field);
    const chars = this.bytes.subarray(offset, offset + Number(type.slice('text '.length)));
    const end = chars.indexOf(0);
    return new TextDecoder().decode(end < 0 ? chars : chars.subarray(0, end)).trim();
  }

  #field(field: string): readonly [number, FieldType] {
    const found = this.#layout.fields[field];
    if (found === undefined) throw new TypeError(`no field ${field}`);
    return found;
  }
}

/** Memory outside of JavaScript's heap, which does not move: what addresses inside of structs may point to. */
export class NativeBytes {
  readonly address: bigint;
  readonly bytes: Uint8Array;
  readonly #koffi: Koffi;

  constructor(koffi: Koffi, size: number) {
    this.#koffi = koffi;
    this.address = koffi.alloc('uint8_t', size) as bigint;
    this.bytes = new Uint8Array(koffi.view(this.address, size));
    this.bytes.fill(0);
  }

  /** Frees the memory: neither `address` nor `bytes` may be used afterwards. */
  free(): void {
    this.#koffi.free(this.address);
  }
}
