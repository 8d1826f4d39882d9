import { isBackendError } from './backend-error.ts';
import { invalid } from './invalid.ts';
import { messageOf } from './message-of.ts';

/**
 * Runs what reads a caller's objects: what their getters throw is the caller's mistake, not the device's.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isBackendError(error)) throw error;
    throw invalid(`${what} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
