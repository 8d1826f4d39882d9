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
