export { compareStored, type StoredMismatch } from './compare-stored.ts';
export { type Interval, NOT_A_NUMBER } from './interval.ts';
export { NAN, type OutputIntervals } from './run-data.ts';
export type { RunData, RunRules, StoredElements } from './run-data.ts';
export { runReference } from './run-reference.ts';
