import { BackendError } from '@concord/backend-core';

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
