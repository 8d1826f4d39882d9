import { isBackendError } from '@concord/backend-core';

/** Why nothing could be run, and whether that counts as a failure. */
export interface NotRun {
  readonly reason: string;
  /** The reason, and who asked for the backend all the same. */
  readonly detail: string;
  readonly isFailure: boolean;
}

/** The backends that `CONCORD_REQUIRE` names: for them a missing device is a failure. */
export function requiredBackends(): readonly string[] {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return (process?.env?.['CONCORD_REQUIRE'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/**
 * Judges an `init()` that rejected. An absent device or driver is no failure, unless `CONCORD_REQUIRE` names the
 * backend; reason `failed`, or any other error, is one: something was there and broke.
 */
export function judgeInitError(backend: string, error: unknown): NotRun {
  const reason = error instanceof Error ? error.message : String(error);
  const isRequired = requiredBackends().includes(backend);
  const isAbsent = isBackendError(error, 'BACKEND_UNAVAILABLE') && error.reason !== 'failed';
  return {
    reason,
    detail: isRequired ? `${reason} (CONCORD_REQUIRE names ${backend})` : reason,
    isFailure: isRequired || !isAbsent,
  };
}
