import { BackendError } from '@concord/backend-core';
import { handleIn, handleSlot, type KernelHandle } from '../ffi/prototypes.ts';
import { NativeBytes, Struct, structSize } from '../ffi/structs.ts';
import { RESULTS } from '../ffi/result.ts';
import { type BuiltModule, nativeBinary } from './build-module.ts';
import type { OpenDevice } from './open-device.ts';
import type { Kernel } from '../kernels/kernel.ts';
import type { PlannedLaunch } from '../kernels/op-plan.ts';
import type { DeviceMemory, Launch, Span } from '../kernels/recorder.ts';
import type { Allocation } from './memory-pool.ts';

/** A kernel that can be launched, as the driver sees it. */
export interface KernelObject {
  readonly handle: KernelHandle;
  readonly argumentCount: number;
  /** The module's LocalSize; zeros where it has none. */
  readonly requiredGroupSize: readonly [number, number, number];
}

/** A module that was built, with the kernels that were asked of it. */
export class LoadedModule {
  /** The name for messages. */
  readonly name: string;
  /** The output of the compiler; may be empty. */
  readonly log: string;
  /** The device that it was built for; it runs on no other. */
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

  /** Returns the binary by the driver's compiler; undefined if the driver does not give it away. */
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

const BYTES = { pointer: 8, u32: 4, u64: 8, f32: 4 } as const;
const TWO_32 = 2 ** 32;

/**
 * A kernel with the arguments that it was launched with last. Only those that changed are set, and nothing is allocated:
 * the values lie in one block of memory, 64-bit ones as two halves.
 */
export class LoadedKernel {
  readonly object: KernelObject;
  readonly #device: OpenDevice;
  readonly #kernel: Kernel;
  /** Two words for each argument. */
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  /** The memory from which the driver reads each argument. */
  readonly #places: readonly Uint8Array[];
  /** True for each argument that the driver has as it is in `#words`. */
  readonly #isSet: boolean[];
  /** `frees` of the device when they were set. */
  #frees = 0;

  constructor(device: OpenDevice, kernel: Kernel, object: KernelObject) {
    const count = kernel.parameters.length;
    if (object.argumentCount !== count) {
      const counts = `${object.argumentCount} in the module, ${count} declared`;
      throw new BackendError('DEVICE_ERROR', `${kernel.name} has another number of arguments: ${counts}`);
    }
    this.#device = device;
    this.#kernel = kernel;
    this.object = object;
    const block = new ArrayBuffer(8 * (count + 1));
    this.#words = new Uint32Array(block);
    // The last place is no argument's: floats are turned to words there.
    this.#floats = new Float32Array(block, 8 * count, 1);
    this.#places = kernel.parameters.map(({ type }, index) => new Uint8Array(block, 8 * index, BYTES[type]));
    this.#isSet = kernel.parameters.map(() => false);
    const { api } = device;
    device.check(api.zeKernelSetGroupSize(object.handle, ...kernel.groupSize), 'zeKernelSetGroupSize');
  }

  /** Sets the arguments of the next launch. */
  setArguments(args: Launch['args']): void {
    const { parameters, name } = this.#kernel;
    this.#forgetFreed();
    for (let index = 0; index < parameters.length; index++) {
      const parameter = parameters[index] as Kernel['parameters'][number];
      const value = args[parameter.name];
      if (value === undefined) {
        throw new BackendError('DEVICE_ERROR', `kernel ${name}: argument ${parameter.name} is not given`);
      }
      if (typeof value === 'number') this.#setNumber(index, value);
      else if ('buffer' in value) this.#setPointer(index, value.buffer, value.byteOffset);
      else throw new BackendError('DEVICE_ERROR', `kernel ${name}: ${parameter.name} is of a call that there is not`);
    }
  }

  /** Sets the arguments of the next launch to those of a plan, with the memory and the numbers of a call. */
  setPlannedArguments(args: PlannedLaunch['args'], memory: readonly Span[], numbers: readonly number[]): void {
    this.#forgetFreed();
    for (let index = 0; index < args.length; index++) {
      const value = args[index] as PlannedLaunch['args'][number];
      if (typeof value === 'number') this.#setNumber(index, value);
      else if ('parameter' in value) this.#setNumber(index, numbers.at(value.parameter) as number);
      else {
        const { buffer, byteOffset } = memory[value.memory] as Span;
        this.#setPointer(index, buffer, byteOffset + value.byteOffset);
      }
    }
  }

  /** A driver may keep, with a pointer, what it knows of the memory there. The same address may be other memory now. */
  #forgetFreed(): void {
    if (this.#frees === this.#device.frees) return;
    this.#frees = this.#device.frees;
    this.#isSet.fill(false);
  }

  #setNumber(index: number, value: number): void {
    const { name, type } = this.#kernel.parameters[index] as Kernel['parameters'][number];
    if (type === 'f32') this.#setFloat(index, value);
    else if (type === 'pointer') {
      throw new BackendError('DEVICE_ERROR', `kernel ${this.#kernel.name}: argument ${name} must be a span`);
    } else this.#set(index, value >>> 0, Math.floor(value / TWO_32));
  }

  #setPointer(index: number, buffer: DeviceMemory, byteOffset: number): void {
    const { addressLow, addressHigh } = buffer as Allocation;
    const low = addressLow + (byteOffset >>> 0);
    const carry = low >= TWO_32 ? 1 : 0;
    this.#set(index, low >>> 0, addressHigh + Math.floor(byteOffset / TWO_32) + carry);
  }

  #setFloat(index: number, value: number): void {
    this.#floats[0] = value;
    this.#set(index, this.#words[2 * this.#places.length] as number, 0);
  }

  #set(index: number, low: number, high: number): void {
    const words = this.#words;
    if (this.#isSet[index] === true && words[2 * index] === low && words[2 * index + 1] === high >>> 0) return;
    words[2 * index] = low;
    words[2 * index + 1] = high;
    this.#isSet[index] = false;
    const place = this.#places[index] as Uint8Array;
    const { api } = this.#device;
    const result = api.zeKernelSetArgumentValue(this.object.handle, index, place.byteLength, place);
    if (result !== 0) throw this.#device.error(result, `zeKernelSetArgumentValue(${index}) of ${this.#kernel.name}`);
    this.#isSet[index] = true;
  }
}
