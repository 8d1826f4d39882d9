import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { BackendError } from '@concord/backend-core';
import type { DeviceTraits, Launch } from './recorder.ts';
import type { Kernel } from './kernel.ts';

/**
 * At least `count` groups in two dimensions, for where one is too short for them, in each of some layers. Kernels number them
 * with {@link groupIndex}, and leave those from `count` on out.
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
