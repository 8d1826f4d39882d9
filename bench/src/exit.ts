import { isBackendError } from '@concord/backend-core';

/** A wrong command. */
export class UsageError extends Error {}

/** This machine lacks the requested device or library, or there is no such case. */
export class NotHere extends Error {}

/** Exit codes besides 0: one of our own results is wrong or missing; a wrong command; nothing to measure here. */
export const EXIT = { failed: 1, usage: 2, notHere: 3 } as const;

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  const { code } = error as { code?: string };
  if (error instanceof UsageError || code?.startsWith('ERR_PARSE_ARGS') === true) return EXIT.usage;
  const isNotHere = error instanceof NotHere || isBackendError(error, 'BACKEND_UNAVAILABLE');
  return isNotHere || code === 'ERR_MODULE_NOT_FOUND' ? EXIT.notHere : EXIT.failed;
}
