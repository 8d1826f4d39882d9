import type { DeviceTraits } from './recorder.ts';

/** Pieces of work for each thread of a CPU, so that they end at about the same time. */
export const RUNS_PER_THREAD = 8;
/** Elements that are not worth sharing out among threads: a few microseconds of work. */
export const MIN_RUN = 8192;

/** Items of this many elements each that a thread of a CPU takes one after the other. */
export function itemsPerRun(items: number, elements: number, { computeUnits }: DeviceTraits): number {
  const worthIt = Math.ceil(MIN_RUN / Math.max(1, elements));
  return Math.max(worthIt, Math.ceil(items / (computeUnits * RUNS_PER_THREAD)));
}
