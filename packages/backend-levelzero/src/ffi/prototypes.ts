/** A pointer of the driver's. koffi gives all of them as plain integers; the brand keeps one kind from passing for another. */
export type Handle<Kind extends string> = bigint & { readonly __levelZeroHandle: Kind };

export type DriverHandle = Handle<'driver'>;
export type DeviceHandle = Handle<'device'>;
export type ContextHandle = Handle<'context'>;
export type QueueHandle = Handle<'queue'>;
export type CommandListHandle = Handle<'command list'>;
export type FenceHandle = Handle<'fence'>;
export type ModuleHandle = Handle<'module'>;
export type BuildLogHandle = Handle<'build log'>;
export type KernelHandle = Handle<'kernel'>;
export type EventPoolHandle = Handle<'event pool'>;
export type EventHandle = Handle<'event'>;

/** A slot that a function of the driver writes a handle to. */
type HandleSlot<Kind extends string> = BigUint64Array & { readonly __levelZeroHandle: Kind };

/** An empty slot for one handle. */
export function handleSlot<Kind extends string>(): HandleSlot<Kind> {
  return new BigUint64Array(1) as HandleSlot<Kind>;
}

/** The value that the driver wrote into a slot. */
export function handleIn<Kind extends string>(slot: HandleSlot<Kind>): Handle<Kind> {
  return (slot[0] ?? 0n) as Handle<Kind>;
}

/** An address, or host memory that the function reads or writes before it returns. */
type Pointer = bigint | ArrayBufferView | null;

/** The type that JavaScript passes for each type of argument. */
interface ArgumentTypes {
  readonly u32: number;
  readonly u64: number | bigint;
  readonly size: number | bigint;
  readonly pointer: Pointer;
  readonly driver: DriverHandle;
  readonly device: DeviceHandle;
  readonly context: ContextHandle;
  readonly queue: QueueHandle;
  readonly list: CommandListHandle;
  readonly fence: FenceHandle;
  readonly module: ModuleHandle;
  readonly log: BuildLogHandle;
  readonly kernel: KernelHandle;
  readonly pool: EventPoolHandle;
  readonly event: EventHandle;
  readonly 'signal event': EventHandle | null;
  readonly 'context slot': HandleSlot<'context'>;
  readonly 'queue slot': HandleSlot<'queue'>;
  readonly 'list slot': HandleSlot<'command list'>;
  readonly 'fence slot': HandleSlot<'fence'>;
  readonly 'kernel slot': HandleSlot<'kernel'>;
  readonly 'pool slot': HandleSlot<'event pool'>;
  readonly 'event slot': HandleSlot<'event'>;
}

/** The functions of Level Zero that are used, with the types of their arguments. All return a `ze_result_t`. */
export const PROTOTYPES = {
  zeInit: ['u32'],
  zeInitDrivers: ['pointer', 'pointer', 'pointer'],
  zeDriverGet: ['pointer', 'pointer'],
  zeDriverGetApiVersion: ['driver', 'pointer'],
  zeDriverGetProperties: ['driver', 'pointer'],
  zeDriverGetExtensionProperties: ['driver', 'pointer', 'pointer'],
  zeDriverGetExtensionFunctionAddress: ['driver', 'pointer', 'pointer'],
  zeDeviceGet: ['driver', 'pointer', 'pointer'],
  zeDeviceGetSubDevices: ['device', 'pointer', 'pointer'],
  zeDeviceGetProperties: ['device', 'pointer'],
  zeDeviceGetComputeProperties: ['device', 'pointer'],
  zeDeviceGetModuleProperties: ['device', 'pointer'],
  zeDeviceGetMemoryProperties: ['device', 'pointer', 'pointer'],
  zeDeviceGetCommandQueueGroupProperties: ['device', 'pointer', 'pointer'],
  zeContextCreate: ['driver', 'pointer', 'context slot'],
  zeContextDestroy: ['context'],
  zeCommandQueueCreate: ['context', 'device', 'pointer', 'queue slot'],
  zeCommandQueueDestroy: ['queue'],
  zeCommandQueueExecuteCommandLists: ['queue', 'u32', 'pointer', 'fence'],
  zeCommandListCreate: ['context', 'device', 'pointer', 'list slot'],
  zeCommandListDestroy: ['list'],
  zeCommandListClose: ['list'],
  zeCommandListReset: ['list'],
  zeCommandListAppendBarrier: ['list', 'pointer', 'u32', 'pointer'],
  zeCommandListAppendMemoryCopy: ['list', 'pointer', 'pointer', 'size', 'pointer', 'u32', 'pointer'],
  zeCommandListAppendMemoryFill: ['list', 'pointer', 'pointer', 'size', 'size', 'pointer', 'u32', 'pointer'],
  zeCommandListAppendLaunchKernel: ['list', 'kernel', 'pointer', 'signal event', 'u32', 'pointer'],
  zeFenceCreate: ['queue', 'pointer', 'fence slot'],
  zeFenceDestroy: ['fence'],
  zeFenceHostSynchronize: ['fence', 'u64'],
  zeFenceQueryStatus: ['fence'],
  zeFenceReset: ['fence'],
  zeEventPoolCreate: ['context', 'pointer', 'u32', 'pointer', 'pool slot'],
  zeEventPoolDestroy: ['pool'],
  zeEventCreate: ['pool', 'pointer', 'event slot'],
  zeEventDestroy: ['event'],
  zeEventQueryStatus: ['event'],
  zeEventHostReset: ['event'],
  zeEventQueryKernelTimestamp: ['event', 'pointer'],
  zeMemAllocDevice: ['context', 'pointer', 'size', 'size', 'device', 'pointer'],
  zeMemAllocHost: ['context', 'pointer', 'size', 'size', 'pointer'],
  zeMemFree: ['context', 'pointer'],
  zeModuleCreate: ['context', 'device', 'pointer', 'pointer', 'pointer'],
  zeModuleDestroy: ['module'],
  zeModuleGetNativeBinary: ['module', 'pointer', 'pointer'],
  zeModuleBuildLogGetString: ['log', 'pointer', 'pointer'],
  zeModuleBuildLogDestroy: ['log'],
  zeKernelCreate: ['module', 'pointer', 'kernel slot'],
  zeKernelDestroy: ['kernel'],
  zeKernelGetProperties: ['kernel', 'pointer'],
  zeKernelSetArgumentValue: ['kernel', 'u32', 'size', 'pointer'],
  zeKernelSetIndirectAccess: ['kernel', 'u32'],
  zeKernelSetGroupSize: ['kernel', 'u32', 'u32', 'u32'],
} as const;

/** Name of a function of Level Zero. */
export type FunctionName = keyof typeof PROTOTYPES;

type Arguments<Types extends readonly (keyof ArgumentTypes)[]> = {
  -readonly [Index in keyof Types]: ArgumentTypes[Types[Index]];
};

/** Level Zero as JavaScript functions, each bound when it is first used. Results are numbers: see `result.ts`. */
export type LevelZeroApi = {
  readonly [Name in FunctionName]: {
    (...args: Arguments<(typeof PROTOTYPES)[Name]>): number;
    /** Runs on a thread of koffi's. Pass addresses of memory that stays where it is, not typed arrays. */
    async(...args: [...Arguments<(typeof PROTOTYPES)[Name]>, (error: Error | null, result: number) => void]): void;
  };
};

/** koffi's types of the arguments of a function. */
export function koffiTypes(name: FunctionName): string[] {
  const types: Readonly<Partial<Record<string, string>>> = { u32: 'uint32_t', u64: 'uint64_t', size: 'size_t' };
  return PROTOTYPES[name].map((type) => types[type] ?? 'void *');
}
