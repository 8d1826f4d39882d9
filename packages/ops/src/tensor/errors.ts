import { BackendError, type BackendErrorFields, isBackendError } from '@concord/backend-core';
import type { Tensor } from './tensor.ts';

/** `[2, 3]`. */
export function shapeText(shape: readonly number[]): string {
  return `[${shape.join(', ')}]`;
}

/** `INVALID_ARGUMENT` of a function: `add: cannot broadcast [2] with [3]`. */
export function refuse(op: string, detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${op}: ${detail}`, { op, ...fields });
}

/**
 * Runs a function's call of the backend; an error of the backend gets the name of the function and the shapes.
 *
 * @throws {BackendError} as `work`
 */
export function launch<T>(op: string, operands: readonly Tensor[], work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw explained(op, operands, cause);
  }
}

/** Returns the error that {@link launch} throws for another: for a path that should make no function. */
export function explained(op: string, operands: readonly Tensor[], cause: unknown): unknown {
  if (!isBackendError(cause)) return cause;
  const { code, detail, backend, hint, reason, requestedBytes, inUseBytes, limitBytes, status } = cause;
  const shapes = operands.map(({ dtype, shape }) => `${dtype}${shapeText(shape)}`).join(', ');
  const fields = { op, backend, hint, reason, requestedBytes, inUseBytes, limitBytes, status, cause };
  return new BackendError(code, detail === '' ? '' : `${op}(${shapes}): ${detail}`, fields);
}
