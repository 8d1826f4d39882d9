import { type BackendError, isBackendError } from './backend-error.ts';
import { invalid } from './invalid.ts';
import { messageOf } from './message-of.ts';

/**
 * Runs code that reads a caller's objects: an error of their getters is the caller's mistake, not the device's.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(what, error);
  }
}

/** Returns the error that {@link reading} throws for another: for a path that should make no function. */
export function unreadable(what: string, error: unknown): BackendError {
  if (isBackendError(error)) return error;
  return invalid(`${what} cannot be read: ${messageOf(error)}`, { cause: error });
}
