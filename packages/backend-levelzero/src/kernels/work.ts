import type { DeviceTraits, Launch } from './recorder.ts';

/** The minimum of multiply-adds of a compute unit in a second: a quarter of what a slow one has. */
const MULTIPLY_ADDS = 2e10;
/** The minimum of bytes that a device moves in a second: half of what an integrated one does. */
const BYTES = 2e10;

/** The maximum of seconds that a number of multiply-adds takes, on a device that is idle otherwise. */
export function secondsFor(multiplyAdds: number, { computeUnits }: Pick<DeviceTraits, 'computeUnits'>): number {
  return multiplyAdds / (MULTIPLY_ADDS * computeUnits);
}

/** The maximum of seconds that a launch takes, by its arithmetic and by the memory that it is given. */
export function secondsOf({ multiplyAdds = 0, args }: Launch, traits: DeviceTraits): number {
  let bytes = 0;
  for (const name in args) {
    const value = args[name];
    if (typeof value === 'object' && 'byteLength' in value) bytes += value.byteLength;
  }
  return Math.max(secondsFor(multiplyAdds, traits), bytes / BYTES);
}

/** Pieces of work for each thread of a CPU, so that they end at about the same time. */
export const RUNS_PER_THREAD = 8;
/** Elements that are not worth sharing out among threads: a few microseconds of work. */
export const MIN_RUN = 8192;

/** Items of this many elements each that a thread of a CPU takes one after the other. */
export function itemsPerRun(items: number, elements: number, { computeUnits }: DeviceTraits): number {
  const worthIt = Math.ceil(MIN_RUN / Math.max(1, elements));
  return Math.max(worthIt, Math.ceil(items / (computeUnits * RUNS_PER_THREAD)));
}

/**
 * Cuts `total` into pieces of `size`, the last one smaller: their starts and lengths. Where more than one piece is wanted none is
 * shorter than `least`, which is at most half of `size`.
 */
export function* cuts(total: number, size: number, least = 1): Generator<readonly [start: number, length: number]> {
  for (let start = 0; start < total;) {
    const left = total - start;
    const length = left > size && left < size + least ? left - least : Math.min(size, left);
    yield [start, length];
    start += length;
  }
}
