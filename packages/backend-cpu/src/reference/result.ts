/** The oracle's result for one output: its value, and the magnitude of its terms. */
export interface Reference {
  /** The exact result up to float64 rounding, in the packed layout of the logical output. */
  readonly value: Float64Array;
  /** Sum of the absolute values of the terms (sum |a||b| for products), which scales the error bound. */
  readonly magnitude: Float64Array;
  /** The number of those terms, where it differs from element to element. */
  readonly terms?: Uint32Array;
}

/** The value from which on everything rounds to an infinite float32. */
const OVERFLOW = 2 ** 128 - 2 ** 103;

/** A sum in float32 when nothing is rounded: itself, unless it is beyond the range. */
export function inRange(sum: number): number {
  return Math.abs(sum) >= OVERFLOW ? Math.sign(sum) * Infinity : sum;
}

/** Anything that reads as numbers: host arrays with float32 (or decoded binary16) values in them. */
export type Values = ArrayLike<number>;
