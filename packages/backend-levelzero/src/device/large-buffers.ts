import type { OpPlan } from '../kernels/op-plan.ts';
import type { Span } from '../kernels/recorder.ts';

/** Bytes that addresses of 32 bits reach. */
const MAX_SMALL = 2 ** 32;

/** Returns whether addresses of 32 bits do not reach all of the memory that a span is in: kernels have to be built for that. */
export function isInLargeBuffer({ buffer }: Span): boolean {
  return buffer.size > MAX_SMALL;
}

/** Returns whether a plan with these operands works on memory that addresses of 32 bits do not reach all of. */
export function takesLargeBuffers({ scratch }: OpPlan, operands: readonly Span[]): boolean {
  return scratch.some((bytes) => bytes > MAX_SMALL) || operands.some(isInLargeBuffer);
}
