import { isBackendError } from '@concord/backend-core';

/** An error in a program of the playground, for people. */
export interface Fault {
  readonly message: string;
  readonly hint?: string;
  /** The place in the source, from 1 on; absent if it is not known. */
  readonly line?: number;
  readonly column?: number;
}

/** A mistake in a program, with its place where that is known. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** The name under which the program is evaluated, so that stacks tell its lines apart. */
export const SOURCE_NAME = 'playground-program.ts';

const FRAME = new RegExp(`${SOURCE_NAME.replaceAll('.', '\\.')}:(\\d+)(?::(\\d+))?`);

/**
 * An error as a fault: the innermost line of the program in its stack, if the engine tells.
 *
 * @param firstLine - the line that the engine gives to the first one of the program
 */
export function faultOf(error: unknown, firstLine: number): Fault {
  if (error instanceof ProgramError) return error.fault;
  const { message, stack = '' } = error instanceof Error ? error : { message: String(error) };
  const [, line, column] = FRAME.exec(stack) ?? [];
  const hint = isBackendError(error) ? error.hint : undefined;
  return {
    message: error instanceof Error && !isBackendError(error) ? `${error.name}: ${message}` : message,
    ...(hint === undefined ? {} : { hint }),
    ...(line === undefined ? {} : { line: Number(line) - firstLine + 1 }),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}
