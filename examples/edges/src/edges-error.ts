/** An error that the user can act on; printed in one line without a stack. */
export class EdgesError extends Error {
  override readonly name = 'EdgesError';
  /** In capitals, for programs that read the output. */
  readonly code: 'CANNOT_READ' | 'NO_PNG' | 'TOO_LARGE' | 'CANNOT_WRITE' | 'INVALID_ARGUMENT';

  constructor(code: EdgesError['code'], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
