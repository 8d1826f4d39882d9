import { BackendError } from '@concord/backend-core';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits, Launch } from './recorder.ts';

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
