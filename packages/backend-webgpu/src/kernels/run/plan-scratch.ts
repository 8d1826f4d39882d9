import { toScratch } from '../operands.ts';
import type { Recorder, Span } from '../recorder.ts';

/** Scratch memory of the operands of one plan: what several launches need is made once. */
export class PlanScratch {
  readonly #recorder: Recorder;
  readonly #copies: Map<string, Span> = new Map();
  #nothing: Span | undefined;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** The buffer for an operand of no elements. */
  get nothing(): Span {
    this.#nothing ??= this.#recorder.scratch(16);
    return this.#nothing;
  }

  /** A copy of an input; it begins `source.byteOffset % 4` bytes into scratch memory. */
  copyOf(source: Span): Span {
    const key = [source.buffer.id, source.byteOffset, source.byteLength].join();
    let copy = this.#copies.get(key);
    if (copy === undefined) {
      copy = toScratch(source, this.#recorder);
      this.#copies.set(key, copy);
    }
    return copy;
  }
}
