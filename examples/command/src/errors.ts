import { isBackendError } from '@concord/backend-core';
import { CommanderError } from 'commander';
import { colorsFor, type Output } from './output.ts';

/** The meaning of the exit codes. */
export const EXIT = { ok: 0, failed: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

/** An error that the user can act on; printed in one line without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** In capitals, for programs that read the output. */
  readonly code: string;
  /** A hint for the reader, one sentence. */
  readonly hint: string | undefined;
  readonly exitCode: number = EXIT.usage;

  constructor(
    code: string,
    message: string,
    { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
  }
}

/**
 * Prints an error as `error: message (CODE)` and, where there is one, `hint: ...`; the stack only if `verbose`.
 *
 * @returns the exit code that belongs to it
 */
export function reportError(error: unknown, stderr: Output, verbose: boolean): number {
  const { message, code, hint, exitCode } = describeError(error);
  const colors = colorsFor(stderr);
  stderr.write(`${colors.red('error:')} ${message} (${code})\n`);
  if (hint !== undefined) stderr.write(`${colors.cyan('hint:')} ${hint}\n`);
  if (verbose && error instanceof Error) stderr.write(`${colors.dim(error.stack ?? '')}\n`);
  return exitCode;
}

function describeError(error: unknown): { message: string; code: string; hint?: string | undefined; exitCode: number } {
  if (error instanceof UserError) return error;
  if (isBackendError(error)) {
    const { code, hint } = error;
    const known: Readonly<Record<string, number>> = {
      INVALID_ARGUMENT: EXIT.usage,
      BACKEND_UNAVAILABLE: EXIT.unavailable,
    };
    // The code says what the prefix of the message says.
    return { message: error.detail || error.message, code, hint, exitCode: known[code] ?? EXIT.failed };
  }
  if (error instanceof CommanderError) {
    const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
    const hint = suggestion?.replace(/^\(|\)$/g, '') ?? '--help lists the options';
    return { message, code: 'USAGE', hint, exitCode: EXIT.usage };
  }
  const message = (error instanceof Error ? error.message : String(error)).split('\n').join(' ');
  return { message, code: 'UNEXPECTED', hint: 'run it again with --verbose for the stack', exitCode: EXIT.failed };
}
