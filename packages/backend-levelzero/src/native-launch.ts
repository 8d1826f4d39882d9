import { BackendError, type DevicePtr } from '@concord/backend-core';
import type { LevelZeroClient } from './device/level-zero-client.ts';
import { LoadedModule } from './device/loaded-module.ts';
import type { UserArgument } from './device/user-kernel.ts';
import type { Span } from './kernels/recorder.ts';
import type { NativeArgument } from './native.ts';

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
