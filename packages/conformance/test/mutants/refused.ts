import { isBackendError } from '@concord/backend-core';

/** Does `call`, or `instead` where it is refused with a detail that matches. */
export function unless<T>(detail: RegExp, call: () => T, instead: () => T): T {
  try {
    return call();
  } catch (error) {
    if (isBackendError(error, 'INVALID_ARGUMENT') && detail.test(error.detail)) return instead();
    throw error;
  }
}

/** Does `call` and gives `instead` where it is refused. */
export function accepting<T>(call: () => T, instead: T): T {
  return unless(/./, call, () => instead);
}
