import { BackendError } from '../errors/backend-error.ts';

/** Longer delays overflow the timer and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The result of `work`, or an error when it takes too long; `late` gets a result that comes later.
 *
 * @param work - may throw, or give what is no promise
 * @throws {BackendError} BACKEND_UNAVAILABLE, or whatever `work` throws
 */
export async function within<T>(
  what: string,
  milliseconds: number,
  work: () => Promise<T> | T,
  late?: (value: T) => void,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLate = false;
  const deadline = new Promise<never>((_, reject) => {
    if (milliseconds > MAX_TIMER_MS) return;
    timer = setTimeout(() => {
      isLate = true;
      reject(new BackendError('BACKEND_UNAVAILABLE', `${what} did not end within ${milliseconds / 1000} s`));
    }, milliseconds);
  });
  const working = (async () => work())();
  working.then(
    (value) => {
      if (isLate) late?.(value);
    },
    () => undefined,
  );
  try {
    return await Promise.race([working, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
