import { isBackendError } from '@concord/backend-core';

/** What was asked for cannot be meant. */
export class UsageError extends Error {}

/** What was asked for is not on this machine, or has no case here. */
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
