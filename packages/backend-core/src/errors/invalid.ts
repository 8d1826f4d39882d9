import { BackendError, type BackendErrorFields } from './backend-error.ts';

/** Shorthand for the most frequent error: `INVALID_ARGUMENT` with that detail. */
export function invalid(detail: string, fields: BackendErrorFields = {}): BackendError {
  return new BackendError('INVALID_ARGUMENT', detail, fields);
}
