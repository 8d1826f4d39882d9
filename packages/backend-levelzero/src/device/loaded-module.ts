import { BackendError } from '@concord/backend-core';
import { handleIn, handleSlot, type KernelHandle } from '../ffi/handles.ts';
import { NativeBytes } from '../ffi/native-bytes.ts';
import { RESULTS } from '../ffi/result.ts';
import { Struct, structSize } from '../ffi/structs.ts';
import { type BuiltModule, nativeBinary } from './build-module.ts';
import type { OpenDevice } from './open-device.ts';

/** A kernel that can be launched, as the driver sees it. */
export interface KernelObject {
  readonly handle: KernelHandle;
  readonly argumentCount: number;
  /** The module's LocalSize; zeros where it has none. */
  readonly requiredGroupSize: readonly [number, number, number];
}

/** A module that was built, with the kernels that were asked of it. */
export class LoadedModule {
  /** For messages. */
  readonly name: string;
  /** The output of the compiler; may be empty. */
  readonly log: string;
  /** Where it was built; it runs nowhere else. */
  readonly device: OpenDevice;
  readonly #built: BuiltModule;
  readonly #kernels: KernelHandle[] = [];

  constructor(device: OpenDevice, name: string, built: BuiltModule) {
    this.device = device;
    this.#built = built;
    this.name = name;
    this.log = built.log;
  }

  /**
   * A new kernel object for an entry point. Its arguments are its own.
   *
   * @throws {BackendError} INVALID_ARGUMENT when the module has no such kernel; DEVICE_ERROR; OUT_OF_MEMORY
   */
  createKernel(entryPoint: string): KernelObject {
    const { api } = this.device;
    const slot = handleSlot<'kernel'>();
    const result = this.#create(entryPoint, slot);
    if (result === RESULTS.ERROR_INVALID_KERNEL_NAME) {
      throw new BackendError('INVALID_ARGUMENT', `${this.name} has no kernel ${JSON.stringify(entryPoint)}`);
    }
    this.device.check(result, 'zeKernelCreate');
    const handle = handleIn(slot);
    this.#kernels.push(handle);
    const properties = new Struct('ze_kernel_properties_t');
    this.device.check(api.zeKernelGetProperties(handle, properties.bytes), 'zeKernelGetProperties');
    return {
      handle,
      argumentCount: properties.get('numKernelArgs'),
      requiredGroupSize: [
        properties.get('requiredGroupSizeX'),
        properties.get('requiredGroupSizeY'),
        properties.get('requiredGroupSizeZ'),
      ],
    };
  }

  /** Its binary, by the driver's compiler; undefined where the driver does not give it away. */
  nativeBinary(): Uint8Array | undefined {
    return nativeBinary(this.device, this.#built.module);
  }

  destroy(): void {
    const { api } = this.device;
    for (const kernel of this.#kernels.splice(0)) api.zeKernelDestroy(kernel);
    api.zeModuleDestroy(this.#built.module);
  }

  #create(entryPoint: string, slot: Parameters<OpenDevice['api']['zeKernelCreate']>[2]): number {
    const name = new TextEncoder().encode(`${entryPoint}\0`);
    const size = structSize('ze_kernel_desc_t');
    const memory = new NativeBytes(this.device.koffi, size + name.byteLength);
    try {
      memory.bytes.set(name, size);
      new Struct('ze_kernel_desc_t', memory.bytes.subarray(0, size)).set('pKernelName', memory.address + BigInt(size));
      return this.device.api.zeKernelCreate(this.#built.module, memory.address, slot);
    } finally {
      memory.free();
    }
  }
}
