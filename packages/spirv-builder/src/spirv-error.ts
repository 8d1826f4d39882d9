/** Misuse of the builder: what is wrong, and where. Thrown before any driver sees the module. */
export class SpirvError extends Error {
  override readonly name = 'SpirvError';
  /** The place in the module, such as `kernel gemm, add, operand 2`. */
  readonly place: string;
  /** The message without the place. */
  readonly problem: string;

  constructor(place: string, problem: string) {
    super(`${place}: ${problem}`);
    this.place = place;
    this.problem = problem;
  }
}
