import { BackendError } from '@concord/backend-core';
import { describe } from '@concord/backend-core/implement';
import type { DeviceTraits, Launch } from '../kernels/recorder.ts';

/**
 * The numbers of groups of a launch. They are compared with the device's limits because the driver gets 32 bits of each.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkGroupCounts(groups: Launch['groups'], { maxGroups }: DeviceTraits): void {
  if (!isTriple(groups)) throw invalid(`groups must be three positive integers, got ${describe(groups)}`);
  if (groups.some((count, axis) => count > (maxGroups[axis] as number))) {
    throw invalid(`groups must be at most ${maxGroups.join(' x ')} on this device, got ${groups.join(' x ')}`);
  }
}

/**
 * The group size of a launch, which is the kernel's own where it has one (`required` is not zeros).
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkGroupSize(
  what: string,
  size: readonly [number, number, number],
  required: readonly [number, number, number],
  { maxGroupSize }: DeviceTraits,
): void {
  const isFixed = required[0] !== 0;
  if (!isTriple(size)) {
    if (size === required) throw invalid(`${what} says nothing of its group size: pass groupSize`);
    throw invalid(`groupSize must be three positive integers, got ${describe(size)}`);
  }
  if (isFixed && size.some((count, axis) => count !== required[axis])) {
    throw invalid(`${what} is made for groups of ${required.join(' x ')}, got ${size.join(' x ')}`);
  }
  if (size[0] * size[1] * size[2] > maxGroupSize) {
    throw invalid(`${what}: groups of ${size.join(' x ')} are more than the ${maxGroupSize} work-items of this device`);
  }
}

function isTriple(value: readonly number[]): boolean {
  const counts: unknown = value;
  return (
    Array.isArray(counts) && counts.length === 3 && counts.every((count) => Number.isSafeInteger(count) && count > 0)
  );
}

function invalid(message: string): BackendError {
  return new BackendError('INVALID_ARGUMENT', message);
}
