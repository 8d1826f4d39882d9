import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { DeviceTraits, Launch } from './recorder.ts';

/**
 * At least `count` groups in two dimensions, for where one is too short for them. Kernels number them with
 * {@link groupIndex}, and leave those from `count` on out.
 */
export function gridOf(count: number, { maxGroups }: DeviceTraits): Launch['groups'] {
  const rows = Math.ceil(count / maxGroups[0]);
  return [Math.ceil(count / rows), rows, 1];
}

/** The number of this group in a grid of two dimensions, as u64. */
export function groupIndex(k: FunctionBuilder): Value {
  return k.add(k.mul(k.groupId(1), k.groupCount(0)), k.groupId(0));
}
