import { BackendError } from '@concord/backend-core';
import type { KernelObject, LoadedModule } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';
import type { UserArgument } from './user-argument.ts';
import { argumentBytes } from './user-argument.ts';

/** Kernels of modules that a user loaded, each made once. */
export class UserKernels {
  readonly #device: OpenDevice;
  readonly #kernels = new WeakMap<LoadedModule, Map<string, KernelObject>>();

  constructor(device: OpenDevice) {
    this.#device = device;
  }

  /**
   * A kernel with its group size and arguments set for the next launch.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a name, group size or arguments that do not fit the kernel
   */
  prepare(
    module: LoadedModule,
    name: string,
    args: readonly UserArgument[],
    groupSize: readonly [number, number, number] | undefined,
  ): KernelObject {
    const kernel = this.#kernel(module, name);
    const what = `kernel ${name} of ${module.name}`;
    if (args.length !== kernel.argumentCount) {
      throw invalid(`${what} takes ${kernel.argumentCount} arguments, got ${args.length}`);
    }
    const required = kernel.requiredGroupSize;
    const size = groupSize ?? required;
    if (size.some((count, axis) => required[0] !== 0 && count !== required[axis])) {
      throw invalid(`${what} is made for groups of ${required.join(' x ')}, got ${size.join(' x ')}`);
    }
    if (size.some((count) => !(Number.isSafeInteger(count) && count > 0))) {
      throw invalid(`${what} says nothing of its group size: pass groupSize, three positive integers`);
    }
    const { api } = this.#device;
    this.#device.check(api.zeKernelSetGroupSize(kernel.handle, ...size), 'zeKernelSetGroupSize');
    for (const [index, arg] of args.entries()) {
      const { bytes, size: byteLength } = argumentBytes(arg);
      const result = api.zeKernelSetArgumentValue(kernel.handle, index, byteLength, bytes);
      if (result !== 0) throw this.#device.error(result, `zeKernelSetArgumentValue(${index}) of ${what}`);
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
      kernels.set(name, kernel);
    }
    return kernel;
  }
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}
