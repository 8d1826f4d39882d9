import { BackendError, type DevicePtr } from '@concord/backend-core';
import type { PoolCounters, VariantTuning } from '@concord/variants';
import type { LevelZeroClient, LoadOptions } from './device/level-zero-client.ts';
import { LoadedModule } from './device/loaded-module.ts';
import type { BuildLog } from './device/module-cache.ts';
import type { UserArgument } from './device/user-kernel.ts';
import type { ContextHandle, DeviceHandle, DriverHandle, QueueHandle } from './ffi/prototypes.ts';
import type { Span } from './kernels/recorder.ts';

/** An argument of a user's kernel: a pointer as it is, or an object that says its type. */
export type NativeArgument = DevicePtr | Exclude<UserArgument, { readonly pointer: unknown }>;

/** Options of a launch. */
export interface NativeLaunchOptions {
  /** Work-items of a group. Needed where the module has no LocalSize. */
  readonly groupSize?: readonly [number, number, number] | undefined;
}

/** The type of `native` of a `LevelZeroBackend`. */
export interface LevelZeroNative {
  readonly driver: DriverHandle;
  readonly device: DeviceHandle;
  readonly context: ContextHandle;
  /** Your own commands may go to it, in an order that you ensure. */
  readonly queue: QueueHandle;
  /** The loader library that was loaded. */
  readonly libraryFile: string;
  /**
   * The device address behind a pointer. It is the pointer's until `free`.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a pointer that is not live
   */
  pointerOf(ptr: DevicePtr): bigint;
  /**
   * Builds a SPIR-V module. The same source gives the same module, which lives as long as the backend.
   *
   * @throws {BackendError} DEVICE_ERROR with the build log; INVALID_ARGUMENT
   */
  load(words: Uint32Array, options?: LoadOptions): LoadedModule;
  /**
   * Launches a kernel, between the ops before and the ops after this call.
   *
   * @param module - from `load`, or the words of a module, which is then built once
   * @param kernel - the entry point
   * @param args - in the kernel's order: a pointer, or `{ u32: 3 }`, `{ f32: 0.5 }`, `{ local: 1024 }` and so on
   * @param groups - number of groups along x, y and z
   * @throws {BackendError} INVALID_ARGUMENT for a name, arguments or a group size that the kernel does not have; DEVICE_ERROR
   */
  launch(
    module: LoadedModule | Uint32Array,
    kernel: string,
    args: readonly NativeArgument[],
    groups: readonly [number, number, number],
    options?: NativeLaunchOptions,
  ): void;
  /** Counters of the device memory of this backend, that of pooled and scratch memory included. */
  memory(): PoolCounters;
  /** The output of the driver's compiler, also for modules that it accepted. */
  buildLogs(): readonly BuildLog[];
  /** The choice between the variants of our kernels. */
  readonly tuning: VariantTuning;
}

/** The arguments as the client takes them: pointers become spans. */
export function nativeArguments(args: readonly NativeArgument[], spanOf: (ptr: DevicePtr) => Span): UserArgument[] {
  if (!Array.isArray(args)) throw new BackendError('INVALID_ARGUMENT', `args must be an array, got ${typeof args}`);
  return args.map((arg) => nativeArgument(arg, spanOf));
}

function nativeArgument(arg: NativeArgument, spanOf: (ptr: DevicePtr) => Span): UserArgument {
  if (typeof arg === 'number') return { pointer: spanOf(arg) };
  if (typeof arg === 'object' && arg !== null && !('pointer' in arg)) return arg;
  throw new BackendError(
    'INVALID_ARGUMENT',
    `an argument is a pointer or an object such as { u32: 3 }, got ${typeof arg}`,
  );
}

/** The module, built from its words if need be. */
export function loadedModule(module: LoadedModule | Uint32Array, client: LevelZeroClient): LoadedModule {
  return module instanceof LoadedModule ? module : client.load(module);
}
