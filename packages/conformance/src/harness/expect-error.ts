import { type ErrorCode, isBackendError } from '@concord/backend-core';
import { CaseFailure } from './case.ts';

/** The text of an expected refusal. */
export interface ExpectedError {
  readonly code: ErrorCode;
  /** The exact `detail`, or a pattern for it. */
  readonly detail?: string | RegExp;
}

/** @throws {CaseFailure} unless `call` throws the expected error, at once */
export function expectThrows(what: string, expected: ExpectedError, call: () => unknown): void {
  let result: unknown;
  try {
    result = call();
  } catch (error) {
    judge(what, expected, error);
    return;
  }
  // A promise here would go unhandled.
  if (result instanceof Promise) result.catch(() => undefined);
  throw new CaseFailure(`${what}: accepted, want ${describe(expected)}`);
}

/** @throws {CaseFailure} unless `call` returns a promise that rejects with the expected error */
export async function expectRejects(
  what: string,
  expected: ExpectedError,
  call: () => Promise<unknown>,
): Promise<void> {
  let promise: Promise<unknown>;
  try {
    promise = call();
  } catch (error) {
    throw new CaseFailure(`${what}: threw ${String(error)}; a method that returns a promise must reject`);
  }
  try {
    await promise;
  } catch (error) {
    judge(what, expected, error);
    return;
  }
  throw new CaseFailure(`${what}: accepted, want ${describe(expected)}`);
}

function judge(what: string, expected: ExpectedError, error: unknown): void {
  const { code, detail } = expected;
  const got = isBackendError(error) ? `${error.code} "${error.detail}"` : `${String(error)}, which is no BackendError`;
  const hasCode = isBackendError(error, code);
  const text = hasCode ? error.detail : '';
  const fits = detail === undefined || (typeof detail === 'string' ? text === detail : detail.test(text));
  if (!hasCode || !fits) throw new CaseFailure(`${what}: got ${got}, want ${describe(expected)}`);
}

function describe({ code, detail }: ExpectedError): string {
  return detail === undefined ? code : `${code} "${String(detail)}"`;
}
