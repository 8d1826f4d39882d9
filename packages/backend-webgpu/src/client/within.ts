import { BackendError } from '@concord/backend-core';

/**
 * `work`, but no longer than `timeoutMs`.
 *
 * @throws {BackendError} DEVICE_ERROR after that time; the work goes on
 */
export async function within<T>(timeoutMs: number, op: string, work: Promise<T>): Promise<T> {
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
