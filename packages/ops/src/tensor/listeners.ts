import type { ComputeBackend, DevicePtr, OpCalls, OpName } from '@concord/backend-core';
import type { Kernel, RunCall } from '@concord/backend-core/kernel';
import type { Storage } from './storage.ts';

/** A call of `run` with its kernel, all operands as objects. */
export type KernelCall = RunCall & { readonly kernel: Kernel };

/** One launch with its operands at their addresses. */
export type Launched = {
  readonly [Op in OpName]: {
    readonly backend: ComputeBackend;
    readonly op: Op;
    readonly call: Op extends keyof OpCalls ? OpCalls[Op] : KernelCall;
  };
}[OpName];

/** Hears of what functions of tensors do, while the function that it was given with runs. */
export interface Listener {
  /** A tensor was asked for its address. */
  asked(storage: Storage, ptr: DevicePtr): void;
  /** A call is about to be queued. */
  launching(launch: Launched): void;
  /** A call was queued. Those on other addresses than tensors were asked for are none of a function of tensors. */
  launched(launch: Launched): void;
}

/** The listeners, the outermost first. */
export const listeners: Listener[] = [];

/** Runs a function whose launches a listener hears of. */
export function listen<Result>(listener: Listener, work: () => Result): Result {
  listeners.push(listener);
  try {
    return work();
  } finally {
    listeners.pop();
  }
}

/** Runs a function of whose launches nobody hears. */
export function unheard<Result>(work: () => Result): Result {
  const silent = listeners.splice(0);
  try {
    return work();
  } finally {
    listeners.push(...silent);
  }
}
