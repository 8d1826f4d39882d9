import { BackendError } from '@concord/backend-core';
import type { GpuContext } from './gpu-source.ts';

const FILTERS = ['validation', 'out-of-memory', 'internal'] as const;

/** An error that a scope caught. */
interface CaughtError {
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

/**
 * Kernels that the device refused after an op with them was accepted. The ops before and after are fine, so the error is
 * not for ever: it goes to the waits under way when it turns up, or else to the next one.
 */
export class Refusals {
  readonly #all = new WeakSet<BackendError>();
  #last: BackendError | undefined;
  #count = 0;
  /** The last one has not been reported. */
  #isNews = false;

  add(error: BackendError): void {
    this.#all.add(error);
    this.#last = error;
    this.#count++;
    this.#isNews = true;
  }

  has(error: BackendError): boolean {
    return this.#all.has(error);
  }

  /** Called when a wait begins. What it gives throws, at the end of the wait, an error that the wait is to reject with. */
  watch(): () => void {
    const first = this.#isNews ? this.#count - 1 : this.#count;
    return () => {
      if (this.#last === undefined || this.#count <= first) return;
      this.#isNews = false;
      throw this.#last;
    };
  }
}

/** Node's timers end at once beyond this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * `work`, but no longer than `timeoutMs`.
 *
 * @throws {BackendError} DEVICE_ERROR after that time; the work goes on. INVALID_ARGUMENT for a time that is none
 */
export async function within<T>(timeoutMs: number, op: string, work: Promise<T>): Promise<T> {
  if (!(timeoutMs >= 0)) {
    work.catch(() => undefined);
    throw new BackendError('INVALID_ARGUMENT', `timeoutMs must be 0 or more, got ${timeoutMs}`, { op });
  }
  if (timeoutMs > MAX_TIMER_MS) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const hint = 'the work goes on; wait again, or with a larger timeoutMs';
      reject(new BackendError('DEVICE_ERROR', `${op} did not finish within ${timeoutMs} ms`, { op, hint }));
    }, timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}
