import { BackendError } from '@concord/backend-core';

/** `INVALID_ARGUMENT` of a function. */
export function invalidArgument(op: string, detail: string, hint?: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', `${op}: ${detail}`, { op, ...(hint === undefined ? {} : { hint }) });
}

/** `UNSUPPORTED` of a gradient that is not computed. */
export function unsupported(op: string, detail: string, hint: string): BackendError {
  return new BackendError('UNSUPPORTED', `gradient of ${op}: ${detail}`, { op, hint });
}
