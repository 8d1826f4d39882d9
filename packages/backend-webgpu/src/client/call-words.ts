import { type Place, spanAt } from '@concord/variants';
import type { Moving } from '../kernels/dispatch.ts';
import type { PlannedDispatch } from '../kernels/launch-plan.ts';
import type { Span } from '../kernels/recorder.ts';

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

/**
 * The words of a dispatch with the parameters of a call, and its operands where they are.
 *
 * @param floats - which of the parameters are floats
 * @param maxBindingBytes - memory of more is not bound whole
 */
export function callWords(
  step: PlannedDispatch,
  floats: readonly boolean[],
  params: readonly number[],
  memory: readonly Span[],
  maxBindingBytes: number,
): Uint32Array {
  const { kernel, moving } = step;
  const count = kernel.paramsAt === undefined ? 0 : params.length;
  if (count === 0 && moving.length === 0) return step.words;
  const before = step.lastWords;
  let words = before;
  const set = (at: number, value: number): void => {
    if (words[at] === value) return;
    // Not in place: the words of the calls before are told by their array until they are uploaded.
    if (words === before) words = before.slice();
    words[at] = value;
  };
  for (let index = 0; index < count; index++) {
    set((kernel.paramsAt as number) + index, wordOf(params[index] as number, floats[index] === true));
  }
  for (let which = 0; which < moving.length; which++) {
    const { index, word: at, bytes } = moving[which] as Moving;
    const { memory: from, byteOffset } = step.places[index] as Place;
    const operand = memory[from] as Span;
    const start = isBoundWhole(operand, maxBindingBytes) ? (operand.byteOffset + byteOffset) / bytes : 0;
    set(at, (step.words[at] as number) + start);
  }
  step.lastWords = words;
  return words;
}

/** The word that the device reads as a parameter. */
function wordOf(value: number, isFloat: boolean): number {
  if (!isFloat) return value >>> 0;
  float[0] = value;
  return word[0] as number;
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
