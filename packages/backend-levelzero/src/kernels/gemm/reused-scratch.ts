import type { Recorder, Span } from '../recorder.ts';

/** Scratch memory of an op whose launches use it one after the other, by what it is for. */
export class ReusedScratch {
  readonly #recorder: Recorder;
  readonly #taken = new Map<string, { readonly span: Span; readonly contents: string | undefined }>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /**
   * Memory for a use: that of before, where it is large enough.
   *
   * @param contents - what will be in it; `isFilled` tells whether that is there already
   */
  take(use: string, bytes: number, contents?: string): { readonly span: Span; readonly isFilled: boolean } {
    const before = this.#taken.get(use);
    if (before !== undefined && contents !== undefined && before.contents === contents) {
      return { span: before.span, isFilled: true };
    }
    const isEnough = before !== undefined && before.span.byteLength >= bytes;
    const span = isEnough ? before.span : this.#recorder.scratch(bytes);
    this.#taken.set(use, { span, contents });
    return { span, isFilled: false };
  }
}
