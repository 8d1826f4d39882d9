import { isBackendError } from '@concord/backend-core';
import { CommanderError } from 'commander';
import { colorsFor, type Output } from './output.ts';
import { EXIT, UserError } from './user-error.ts';

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
