import { BackendError } from '@concord/backend-core';
import type { GpuContext } from './gpu-source.ts';

const FILTERS = ['validation', 'out-of-memory', 'internal'] as const;

/** An error that a scope caught. */
export interface CaughtError {
  readonly filter: (typeof FILTERS)[number];
  readonly error: GPUError;
}

/** The results of calls, and the device's verdicts. */
export interface Scoped<T> {
  readonly value: T;
  /** The first error, once the device has judged the calls. Never rejects. */
  readonly caught: Promise<CaughtError | undefined>;
}

/**
 * Runs `make` with error scopes of every kind around it. Errors outside a scope would be printed by the runtime and lost
 * for the program. `make` must be synchronous: scopes are a stack of the whole device.
 */
export function inScopes<T>({ device, awaiting }: GpuContext, make: () => T): Scoped<T> {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  let popped: Promise<CaughtError | undefined> | undefined;
  const pop = (): Promise<CaughtError | undefined> => {
    const scopes = [...FILTERS].reverse().map(async (filter) => {
      // A scope of a lost device rejects; the loss itself is reported elsewhere.
      const error = await awaiting(() => device.popErrorScope()).catch(() => null);
      return error === null ? undefined : { filter, error };
    });
    return Promise.all(scopes).then((results) => results.find((result) => result !== undefined));
  };
  try {
    const value = make();
    popped = pop();
    return { value, caught: popped };
  } finally {
    if (popped === undefined) void pop();
  }
}

/** The coded error for what a scope caught; `what` names the work, such as `gemm, unary`. */
export function toCodedError({ filter, error }: CaughtError, what: string, label = ''): BackendError {
  const detail = `${label}${error.message.trim()}`;
  return new BackendError(filter === 'out-of-memory' ? 'OUT_OF_MEMORY' : 'DEVICE_ERROR', detail, {
    op: what,
    cause: error,
  });
}
