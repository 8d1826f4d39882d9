/** Fields of a {@link CommandError} besides its message. */
interface CommandErrorFields {
  /** A code in capitals, for programs that read the output. Default: INVALID_ARGUMENT. */
  readonly code?: string;
  /** Default: that of wrong usage. */
  readonly exitCode?: number;
  /** A hint for the reader, one sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** An error that the user can understand and act on; printed in one line without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, { code = 'INVALID_ARGUMENT', exitCode = EXIT.usage, hint, cause }: CommandErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The meaning of the exit code of every subcommand. */
export const EXIT = {
  ok: 0,
  /** A case failed, nothing passed, or something unforeseen happened. */
  failed: 1,
  usage: 2,
  /** The backend cannot be used here, so nothing was run. */
  unavailable: 3,
  /** 128 + SIGINT, as shells count. */
  interrupted: 130,
} as const;

/** The one of several exit codes that counts most: an interruption, then a failure, then what was not run. */
export function worstExit(codes: readonly number[]): number {
  const order: readonly number[] = [EXIT.interrupted, EXIT.failed, EXIT.unavailable];
  return order.find((code) => codes.includes(code)) ?? EXIT.ok;
}

/** The table of exit codes that every `--help` ends with. */
export const EXIT_CODE_HELP: string = `
Exit codes:
  0    everything passed
  1    a case failed, nothing passed, or an unforeseen error
  2    wrong arguments
  3    the backend cannot be used on this machine, nothing was run
  130  interrupted with Ctrl-C; what was done is printed, no file is written`;

/** Returns the message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
