import type { ExpectedEntry } from './bench-case.ts';

/** How many entries of a result are compared. */
export const CHECKED_ENTRIES = 64;

/**
 * Compares entries all over a result, the first and the last among them, with the oracle.
 *
 * The tolerances catch wrong answers, not last bits: those are for `concord conformance` to judge.
 *
 * @returns what is wrong, or undefined
 */
export function findWrongEntry(
  result: ArrayLike<number>,
  expected: (index: number) => ExpectedEntry,
): string | undefined {
  const last = result.length - 1;
  // A step that has no factor in common with a row of 2^n elements comes by all columns.
  const step = Math.max(1, Math.floor(last / (CHECKED_ENTRIES - 1))) | 1;
  for (let at = 0; at < last + step; at += step) {
    const index = Math.min(at, last);
    const { want, tolerance } = expected(index);
    const got = result[index] as number;
    if (!(Math.abs(got - want) <= tolerance)) {
      return `entry ${index.toLocaleString('en')} is ${Number(got.toPrecision(8))}, want ${Number(want.toPrecision(8))}`;
    }
  }
  return undefined;
}
