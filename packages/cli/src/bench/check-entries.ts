import type { BenchWork } from './bench-case.ts';

/** The number of entries of a result that are compared. */
export const CHECKED_ENTRIES = 64;

/** Reads entries of a result. */
export type ReadEntries = (indices: readonly number[]) => Promise<readonly number[]>;

/**
 * Makes a check that compares entries all over the result of a case, the first and the last among them, with the oracle,
 * which computes them once.
 *
 * The tolerances catch wrong answers, not last bits: those are for `concord conformance` to judge.
 *
 * @returns a description of the error, or undefined
 */
export function checkEntries(
  work: Pick<BenchWork, 'expected' | 'hostResult' | 'outputLength'>,
): (read: ReadEntries) => Promise<string | undefined> {
  const indices = sampleIndices(work.hostResult?.().length ?? work.outputLength);
  const expected = indices.map((index) => work.expected(index));
  return async (read) => {
    const got = await read(indices);
    for (const [i, { want, tolerance }] of expected.entries()) {
      const value = got[i] as number;
      // Infinities and NaN are right where the oracle has them.
      if (Math.abs(value - want) <= tolerance || Object.is(value, want)) continue;
      const place = (indices[i] as number).toLocaleString('en');
      return `entry ${place} is ${Number(value.toPrecision(8))}, want ${Number(want.toPrecision(8))}`;
    }
    return undefined;
  };
}

/** Indices all over a result of `length` entries. */
export function sampleIndices(length: number): number[] {
  const last = length - 1;
  // A step that has no factor in common with a row of 2^n elements visits all columns.
  const step = Math.max(1, Math.floor(last / (CHECKED_ENTRIES - 1))) | 1;
  return Array.from({ length: Math.ceil(last / step) + 1 }, (_, i) => Math.min(i * step, last));
}
