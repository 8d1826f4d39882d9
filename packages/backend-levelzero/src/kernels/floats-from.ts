import type { Span } from './recorder.ts';

/** An operand of float32 from its element `first` on. */
export function floatsFrom({ buffer, byteOffset, byteLength }: Span, first: number): Span {
  return { buffer, byteOffset: byteOffset + 4 * first, byteLength: byteLength - 4 * first };
}
