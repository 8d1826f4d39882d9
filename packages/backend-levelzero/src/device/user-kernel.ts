import { madeOnce } from '@concord/kernel';
import { BackendError } from '@concord/backend-core';
import { describe } from '@concord/backend-core/implement';
import type { DeviceTraits, Launch, Span } from '../kernels/recorder.ts';
import { addressOf } from './command-stream.ts';
import { RESULTS } from '../ffi/result.ts';
import { ENUMS } from '../ffi/structs.ts';
import type { KernelObject, LoadedModule } from './loaded-module.ts';
import type { OpenDevice } from './open-device.ts';

/** An argument of a user's kernel: a pointer, a value of a type, raw bytes of a struct, or bytes of workgroup memory. */
export type UserArgument =
  | { readonly pointer: Span | bigint }
  | { readonly i32: number }
  | { readonly u32: number }
  | { readonly i64: number | bigint }
  | { readonly u64: number | bigint }
  | { readonly f32: number }
  | { readonly f64: number }
  | { readonly bytes: Uint8Array }
  | { readonly local: number };

type Writer = (view: DataView, value: never) => void;

/** Values that a type does not hold are refused, not wrapped. */
const SCALARS: Readonly<Record<string, { readonly size: number; readonly write: Writer }>> = {
  i32: { size: 4, write: (view, value: number) => view.setInt32(0, exact(value, value | 0), true) },
  u32: { size: 4, write: (view, value: number) => view.setUint32(0, exact(value, value >>> 0), true) },
  i64: {
    size: 8,
    write: (view, value: number | bigint) =>
      view.setBigInt64(0, exact(BigInt(value), BigInt.asIntN(64, BigInt(value))), true),
  },
  u64: {
    size: 8,
    write: (view, value: number | bigint) =>
      view.setBigUint64(0, exact(BigInt(value), BigInt.asUintN(64, BigInt(value))), true),
  },
  f32: { size: 4, write: (view, value: number) => view.setFloat32(0, value, true) },
  f64: { size: 8, write: (view, value: number) => view.setFloat64(0, value, true) },
};

/**
 * The value that the driver gets for an argument; workgroup memory has a size and no bytes.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function argumentBytes(arg: UserArgument): { readonly size: number; readonly bytes: Uint8Array | null } {
  if (typeof arg !== 'object' || arg === null) throw invalid('an argument is an object such as { u32: 3 }');
  const [[type, value] = ['', undefined], ...others] = Object.entries(arg) as [string, unknown][];
  if (others.length > 0) throw invalid('an argument is an object with one entry, such as { u32: 3 }');
  if (type === 'local') {
    if (!(Number.isSafeInteger(value) && (value as number) > 0))
      throw invalid('local takes a positive number of bytes');
    return { size: value as number, bytes: null };
  }
  if (type === 'bytes') {
    if (!(value instanceof Uint8Array) || value.byteLength === 0) throw invalid('bytes takes a Uint8Array');
    return { size: value.byteLength, bytes: value };
  }
  if (type === 'pointer') {
    if (typeof value !== 'bigint' && (typeof value !== 'object' || value === null)) {
      throw invalid('pointer takes a span or an address, a bigint');
    }
    const address = typeof value === 'bigint' ? value : addressOf(value as Span);
    return { size: 8, bytes: new Uint8Array(BigUint64Array.of(address).buffer) };
  }
  const scalar = Object.hasOwn(SCALARS, type) ? SCALARS[type] : undefined;
  if (scalar === undefined) throw invalid(`an argument has no type ${JSON.stringify(type)}`);
  if (typeof value !== 'number' && typeof value !== 'bigint') throw invalid(`${type} takes a number`);
  const bytes = new Uint8Array(scalar.size);
  try {
    scalar.write(new DataView(bytes.buffer), value as never);
  } catch (cause) {
    throw new BackendError('INVALID_ARGUMENT', `${type} does not take ${String(value)}`, { cause });
  }
  return { size: scalar.size, bytes };
}

function exact<Value extends number | bigint>(value: Value, held: Value): Value {
  if (held !== value) throw new RangeError(`${value} does not fit`);
  return held;
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}

/**
 * The numbers of groups of a launch. They are compared with the device's limits because the driver gets 32 bits of each.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkGroupCounts(groups: Launch['groups'], { maxGroups }: DeviceTraits): void {
  if (!isTriple(groups)) throw invalid(`groups must be three positive integers, got ${describe(groups)}`);
  if (groups.some((count, axis) => count > (maxGroups[axis] as number))) {
    throw invalid(`groups must be at most ${maxGroups.join(' x ')} on this device, got ${groups.join(' x ')}`);
  }
}

/**
 * The group size of a launch, which is the kernel's own where it has one (`required` is not zeros).
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
function checkGroupSize(
  what: string,
  size: readonly [number, number, number],
  required: readonly [number, number, number],
  { maxGroupSize }: DeviceTraits,
): void {
  const isFixed = required[0] !== 0;
  if (!isTriple(size)) {
    if (size === required) throw invalid(`${what} says nothing of its group size: pass groupSize`);
    throw invalid(`groupSize must be three positive integers, got ${describe(size)}`);
  }
  if (isFixed && size.some((count, axis) => count !== required[axis])) {
    throw invalid(`${what} is made for groups of ${required.join(' x ')}, got ${size.join(' x ')}`);
  }
  if (size[0] * size[1] * size[2] > maxGroupSize) {
    throw invalid(`${what}: groups of ${size.join(' x ')} are more than the ${maxGroupSize} work-items of this device`);
  }
}

function isTriple(value: readonly number[]): boolean {
  const counts: unknown = value;
  return (
    Array.isArray(counts) && counts.length === 3 && counts.every((count) => Number.isSafeInteger(count) && count > 0)
  );
}

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
    const kernels = madeOnce(this.#kernels, module, () => new Map<string, KernelObject>());
    return madeOnce(kernels, name, () => {
      const kernel = module.createKernel(name);
      this.#allowIndirectAccess(kernel);
      return kernel;
    });
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
