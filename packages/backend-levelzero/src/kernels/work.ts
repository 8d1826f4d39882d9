import type { DeviceTraits, Launch, Recorder } from './recorder.ts';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { BackendError } from '@concord/backend-core';
import type { Kernel } from './kernel.ts';

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

/**
 * Returns a grid of at least `count` groups in two dimensions, in case one is too short for them, in each of some
 * layers. Kernels number them with {@link groupIndex}, and leave those from `count` on out.
 */
export function gridOf(count: number, { maxGroups }: DeviceTraits, layers = 1): Launch['groups'] {
  const rows = Math.ceil(count / maxGroups[0]);
  return [Math.ceil(count / rows), rows, layers];
}

/** The number of this group in a grid of two dimensions, as u64. */
export function groupIndex(k: FunctionBuilder): Value {
  return k.add(k.mul(k.groupId(1), k.groupCount(0)), k.groupId(0));
}

const AXES = ['x', 'y', 'z'] as const;

/**
 * Returns whether a device can launch a number of groups of a kernel.
 *
 * @throws {BackendError} UNSUPPORTED beyond its limits
 */
export function checkGroups({ name, groupSize }: Kernel, groups: Launch['groups'], traits: DeviceTraits): void {
  const { maxGroups, maxGroupSize } = traits;
  for (let axis = 0; axis < AXES.length; axis++) {
    const count = groups[axis] as number;
    if (count <= (maxGroups[axis] as number)) continue;
    const limit = `${count} groups along ${AXES[axis]}, of at most ${maxGroups[axis]}`;
    throw new BackendError('UNSUPPORTED', `kernel ${name} would need ${limit}`);
  }
  const size = groupSize[0] * groupSize[1] * groupSize[2];
  if (size <= maxGroupSize) return;
  throw new BackendError('UNSUPPORTED', `kernel ${name} has groups of ${size}, the device takes ${maxGroupSize}`);
}

/** Seconds of one launch, by the estimate: kernel drivers take a device for hung whose work does not end within several. */
const MAX_SECONDS = 1;

/** A launch whose kernel takes the items from `first` on. */
export interface ItemLaunch extends Pick<Launch, 'kernel' | 'args' | 'variant'> {
  /** Multiply-adds of all of it. */
  readonly work: number;
}

/** Launches a kernel over all of its items, in as many launches as bound the time of each. */
export function launchInPieces(
  recorder: Recorder,
  { kernel, args, variant, work }: ItemLaunch,
  { items, perGroup }: { readonly items: number; readonly perGroup: number },
): void {
  const { traits } = recorder;
  const groups = Math.ceil(items / perGroup);
  const pieces = Math.min(groups, Math.max(1, Math.ceil(secondsFor(work, traits) / MAX_SECONDS)));
  const perPiece = Math.ceil(groups / pieces);
  for (let start = 0; start < groups; start += perPiece) {
    const count = Math.min(perPiece, groups - start);
    recorder.launch({
      kernel,
      args: { ...args, first: start * perGroup, items: Math.min(items, (start + count) * perGroup) },
      groups: gridOf(count, traits),
      multiplyAdds: (work * count) / groups,
      ...(variant === undefined ? {} : { variant }),
    });
  }
}
