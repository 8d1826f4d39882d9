import { expect } from 'vitest';
import { type BackendError, type ErrorCode, isBackendError } from '../src/index.ts';

/** Runs `action`, which must throw a BackendError with that code and, if given, that detail: exactly, or as a pattern. */
export function expectError(action: () => unknown, code: ErrorCode, detail?: string | RegExp): BackendError {
  let error: unknown;
  try {
    action();
  } catch (thrown) {
    error = thrown;
  }
  return check(error, code, detail);
}

/** Does what {@link expectError} does, for a promise. */
export async function expectRejection(
  promise: Promise<unknown>,
  code: ErrorCode,
  detail?: string | RegExp,
): Promise<BackendError> {
  const error: unknown = await promise.then(
    () => undefined,
    (rejected: unknown) => rejected,
  );
  return check(error, code, detail);
}

/** `INVALID_ARGUMENT` with that detail. */
export function expectInvalid(action: () => unknown, detail?: string | RegExp): BackendError {
  return expectError(action, 'INVALID_ARGUMENT', detail);
}

function check(error: unknown, code: ErrorCode, detail: string | RegExp | undefined): BackendError {
  if (!isBackendError(error)) throw new Error(`expected ${code}, got ${String(error)}`);
  expect(error.code, error.message).toBe(code);
  if (typeof detail === 'string') expect(error.detail).toBe(detail);
  else if (detail !== undefined) expect(error.detail).toMatch(detail);
  return error;
}
