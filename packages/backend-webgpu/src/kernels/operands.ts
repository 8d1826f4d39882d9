import type { Recorder, Span } from './recorder.ts';

/** A span as it can be bound, and where the operand begins in it. */
export interface Bindable {
  readonly span: Span;
  /** Bytes from the start of the binding to the operand. */
  readonly byteOffset: number;
}

/** Bytes that a binding may need besides the operand's own, because its start and length are rounded. */
export const bindingSlack = (storageAlignment: number): number => storageAlignment + 4;

/** Moves the start of a span down to where a binding may begin and its end up to a multiple of 4. */
export function bindable(operand: Span, storageAlignment: number): Bindable {
  const byteOffset = operand.byteOffset % storageAlignment;
  const byteLength = Math.ceil((byteOffset + operand.byteLength) / 4) * 4;
  return { span: { buffer: operand.buffer, byteOffset: operand.byteOffset - byteOffset, byteLength }, byteOffset };
}

/** Part of a span: `byteLength` bytes from `start` on. */
export function slice(operand: Span, start: number, byteLength: number): Span {
  return { buffer: operand.buffer, byteOffset: operand.byteOffset + start, byteLength };
}

/**
 * An input that can be bound in one launch with `output`. WebGPU refuses one buffer as both read and written, also with
 * disjoint ranges, so an input in the output's buffer is copied to scratch memory on the device.
 */
export function apartFrom(output: Span, input: Span, recorder: Recorder): Span {
  return input.buffer === output.buffer ? toScratch(input, recorder) : input;
}

/** A copy of a span in scratch memory; it may begin up to 3 bytes into it. */
export function toScratch(source: Span, recorder: Recorder): Span {
  // Copies take multiples of 4: the words around the span are copied too.
  const lead = source.byteOffset % 4;
  const byteLength = Math.ceil((lead + source.byteLength) / 4) * 4;
  const copy = recorder.scratch(byteLength);
  recorder.copy(copy, { buffer: source.buffer, byteOffset: source.byteOffset - lead, byteLength });
  return { buffer: copy.buffer, byteOffset: copy.byteOffset + lead, byteLength: source.byteLength };
}
