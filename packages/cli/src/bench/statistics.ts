/** The middle of some numbers, and how far they spread. */
export interface Spread {
  readonly median: number;
  /** The 10th percentile. */
  readonly low: number;
  /** The 90th percentile. */
  readonly high: number;
}

/** The percentiles of a list that is not empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((x, y) => x - y);
  return { median: percentile(sorted, 0.5), low: percentile(sorted, 0.1), high: percentile(sorted, 0.9) };
}

/** The middle one of a list that is not empty; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** Between two entries in proportion. */
function percentile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}
