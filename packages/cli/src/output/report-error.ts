import { isBackendError, printable } from '@concord/backend-core';
import { CommanderError } from 'commander';
import { CommandError, EXIT, messageOf } from '../command-error.ts';
import type { Output } from '../context.ts';
import { colorsFor } from './colors.ts';

interface Description {
  readonly message: string;
  readonly code: string;
  readonly hint?: string | undefined;
  readonly exitCode: number;
}

/** Options of {@link reportError}. */
export interface ReportErrorOptions {
  /** Adds the stack. */
  readonly isVerbose: boolean;
  /** The subcommand in which it happened. */
  readonly command: string | undefined;
}

/**
 * Prints an error as `error: message (CODE)` and, where there is one, `hint: ...`; the stack only if verbose.
 *
 * @returns the exit code that belongs to it
 */
export function reportError(error: unknown, stderr: Output, { isVerbose, command }: ReportErrorOptions): number {
  const { message, code, hint, exitCode } = describeError(error, command);
  const line = printable(`${message} (${code})`);
  const colors = colorsFor(stderr);
  stderr.write(`${colors.red('error:')} ${line}\n`);
  if (hint !== undefined) stderr.write(`${colors.cyan('hint:')} ${printable(hint)}\n`);
  if (isVerbose && error instanceof Error) stderr.write(`${colors.dim(printable(stackOf(error)))}\n`);
  return exitCode;
}

function describeError(error: unknown, command: string | undefined): Description {
  if (error instanceof CommandError) return error;
  if (isBackendError(error)) {
    const { code, hint } = error;
    // The code says what the prefix of the message says.
    return { message: error.detail || error.message, code, hint, exitCode: EXIT_CODE_OF[code] ?? EXIT.failed };
  }
  if (error instanceof CommanderError) return describeUsageError(error, command);
  const message = oneLine(messageOf(error));
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const hint = 'run it again with --verbose for the stack';
  return { message, code: typeof code === 'string' ? code : 'UNEXPECTED', hint, exitCode: EXIT.failed };
}

const EXIT_CODE_OF: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: EXIT.usage,
  BACKEND_UNAVAILABLE: EXIT.unavailable,
};

/** Commander's message is `error: what is wrong`, with `(Did you mean x?)` on a second line. */
function describeUsageError(error: CommanderError, command: string | undefined): Description {
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const help =
    command === undefined ? 'concord --help lists the commands' : `concord ${command} --help lists its options`;
  const hint = suggestion === undefined ? help : `${suggestion.replace(/^\(|\)$/g, '')} ${help}`;
  return { message: first, code: 'USAGE', hint, exitCode: EXIT.usage };
}

function stackOf(error: Error): string {
  const stack = error.stack ?? error.message;
  return error.cause instanceof Error ? `${stack}\nCaused by: ${stackOf(error.cause)}` : stack;
}

function oneLine(text: string): string {
  return text.split('\n').join(' ').trim();
}
