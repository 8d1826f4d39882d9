import { BackendError } from '@concord/backend-core';
import type { DeviceTraits } from '../kernels/recorder.ts';
import { checkGroupSize } from './check-launch.ts';
import { RESULTS } from '../ffi/result.ts';
import { ENUMS } from '../ffi/structs.ts';
import type { KernelObject, LoadedModule } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';
import type { UserArgument } from './user-argument.ts';
import { argumentBytes } from './user-argument.ts';

/** Kernels of modules that a user loaded, each made once. */
export class UserKernels {
  readonly #device: OpenDevice;
  readonly #traits: DeviceTraits;
  readonly #kernels = new WeakMap<LoadedModule, Map<string, KernelObject>>();

  constructor(device: OpenDevice, traits: DeviceTraits) {
    this.#device = device;
    this.#traits = traits;
  }

  /**
   * A kernel with its group size and arguments set for the next launch.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a module of another client, and for a name, group size or arguments that do
   *   not fit the kernel
   */
  prepare(
    module: LoadedModule,
    name: string,
    args: readonly UserArgument[],
    groupSize: readonly [number, number, number] | undefined,
  ): KernelObject {
    if (module.device !== this.#device) throw invalid(`${module.name} was loaded by another backend or client`);
    if (typeof name !== 'string') throw invalid(`the name of a kernel must be a string, got ${typeof name}`);
    const kernel = this.#kernel(module, name);
    const what = `kernel ${name} of ${module.name}`;
    if (!Array.isArray(args)) throw invalid(`the arguments of ${what} must be an array`);
    if (args.length !== kernel.argumentCount) {
      throw invalid(`${what} takes ${kernel.argumentCount} arguments, got ${args.length}`);
    }
    const size = groupSize ?? kernel.requiredGroupSize;
    checkGroupSize(what, size, kernel.requiredGroupSize, this.#traits);
    const { api } = this.#device;
    this.#device.check(api.zeKernelSetGroupSize(kernel.handle, ...size), 'zeKernelSetGroupSize');
    for (const [index, arg] of args.entries()) {
      const { bytes, size: byteLength } = argumentBytes(arg);
      const result = api.zeKernelSetArgumentValue(kernel.handle, index, byteLength, bytes);
      if (result === RESULTS.ERROR_INVALID_KERNEL_ARGUMENT_SIZE) {
        throw invalid(`argument ${index} of ${what} is not of ${byteLength} bytes`);
      }
      if (result !== RESULTS.SUCCESS) {
        throw this.#device.error(result, `zeKernelSetArgumentValue(${index}) of ${what}`);
      }
    }
    return kernel;
  }

  #kernel(module: LoadedModule, name: string): KernelObject {
    let kernels = this.#kernels.get(module);
    if (kernels === undefined) {
      kernels = new Map();
      this.#kernels.set(module, kernels);
    }
    let kernel = kernels.get(name);
    if (kernel === undefined) {
      kernel = module.createKernel(name);
      this.#allowIndirectAccess(kernel);
      kernels.set(name, kernel);
    }
    return kernel;
  }

  /** The driver cannot see memory that the kernel reaches through pointers in memory and in structs: all memory stays resident. */
  #allowIndirectAccess({ handle }: KernelObject): void {
    const flags =
      ENUMS.ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
      ENUMS.ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
      ENUMS.ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    this.#device.check(this.#device.api.zeKernelSetIndirectAccess(handle, flags), 'zeKernelSetIndirectAccess');
  }
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}
