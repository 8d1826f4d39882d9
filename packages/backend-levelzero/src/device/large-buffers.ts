import type { Span } from '../kernels/recorder.ts';

/** Whether addresses of 32 bits do not reach all of the memory that a span is in: kernels have to be built for that. */
export function isInLargeBuffer({ buffer }: Span): boolean {
  return buffer.size > 2 ** 32;
}
