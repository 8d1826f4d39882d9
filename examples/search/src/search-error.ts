/** An error that the user can act on; printed in one line without a stack. */
export class SearchError extends Error {
  override readonly name = 'SearchError';
  /** In capitals, for programs that read the output. */
  readonly code: string;
  /** What the reader can do about it, one sentence. */
  readonly hint: string;
  readonly exitCode: number;

  constructor(code: string, message: string, hint: string, exitCode = 2) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}
