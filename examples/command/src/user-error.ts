/** An error that the user can act on; printed in one line without a stack. */
export class UserError extends Error {
  override readonly name = 'UserError';
  /** In capitals, for programs that read the output. */
  readonly code: string;
  /** A hint for the reader, one sentence. */
  readonly hint: string | undefined;
  /** That of wrong arguments. */
  readonly exitCode = 2;

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
