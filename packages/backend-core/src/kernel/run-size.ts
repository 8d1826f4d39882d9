import { BackendError } from '../errors/backend-error.ts';

/** The greatest size of an axis of a `run`: sizes are u32 in every kernel's arguments. */
export const MAX_SIZE: number = 2 ** 32 - 1;

/**
 * Checks sizes that become axes of a `run`, for ops that know no such limit themselves.
 *
 * @throws {BackendError} UNSUPPORTED for a size of 2^32 or more
 */
export function assertRunSize(name: string, size: number): void {
  if (size > MAX_SIZE) throw new BackendError('UNSUPPORTED', `${name} must be below 2^32, got ${size}`);
}
