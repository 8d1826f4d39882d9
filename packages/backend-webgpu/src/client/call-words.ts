import { spanAt } from '@concord/variants';
import type { PlannedDispatch } from '../kernels/launch-plan.ts';
import type { Span } from '../kernels/recorder.ts';

/** The words of each dispatch as its last call had them: calls of many layers follow each other with the same. */
const lastWords = new WeakMap<PlannedDispatch, Uint32Array>();

/** The values that differ between the calls of one plan. */
export interface CallValues {
  /** Words of the parameters, if there are any. */
  readonly params: Uint32Array | undefined;
  readonly memory: readonly Span[];
  /** The maximum number of bytes of a binding: memory of more is not bound whole. */
  readonly maxBindingBytes: number;
}

/** The words of a dispatch with the parameters of a call, and its operands where they are. */
export function callWords(step: PlannedDispatch, { params, memory, maxBindingBytes }: CallValues): Uint32Array {
  const { paramsAt } = step.kernel;
  if (params === undefined && step.moving.length === 0) return step.words;
  let words = lastWords.get(step) ?? step.words;
  let isOwn = false;
  const set = (at: number, value: number): void => {
    if (words[at] === value) return;
    // Not in place: the words of the calls before are told by their array until they are uploaded.
    if (!isOwn) words = words.slice();
    isOwn = true;
    words[at] = value;
  };
  if (params !== undefined && paramsAt !== undefined) {
    for (let index = 0; index < params.length; index++) set(paramsAt + index, params[index] as number);
  }
  for (const { index, word, bytes } of step.moving) {
    const { memory: which, byteOffset } = step.places[index] as PlannedDispatch['places'][number];
    const operand = memory[which] as Span;
    const from = isBoundWhole(operand, maxBindingBytes) ? (operand.byteOffset + byteOffset) / bytes : 0;
    set(word, (step.words[word] as number) + from);
  }
  if (isOwn) lastWords.set(step, words);
  return words;
}

/** Returns whether a binding that may move is bound from the beginning of its memory to the end. */
export function isBoundWhole({ buffer }: Span, maxBindingBytes: number): boolean {
  return buffer.size <= maxBindingBytes;
}

/** The buffers that a dispatch of a plan binds. */
export function spansOf({ places, moving }: PlannedDispatch, memory: readonly Span[], maxBindingBytes: number): Span[] {
  const spans = places.map((place) => withinBuffer(spanAt(memory, place)));
  for (const { index } of moving) {
    const { buffer } = spans[index] as Span;
    if (!isBoundWhole(spans[index] as Span, maxBindingBytes)) continue;
    spans[index] = { buffer, byteOffset: 0, byteLength: buffer.size };
  }
  return spans;
}

/** Plans may be for some more of an input than there is: what they do not read. */
export function withinBuffer({ buffer, byteOffset, byteLength }: Span): Span {
  return { buffer, byteOffset, byteLength: Math.min(byteLength, buffer.size - byteOffset) };
}
