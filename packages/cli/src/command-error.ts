/** Fields of a {@link CommandError} besides its message. */
export interface CommandErrorFields {
  /** For programs that read the output, in capitals. */
  readonly code: string;
  readonly exitCode: number;
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

  constructor(message: string, { code, exitCode, hint, cause }: CommandErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
