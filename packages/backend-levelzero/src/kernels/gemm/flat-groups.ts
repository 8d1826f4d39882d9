import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { DeviceTraits } from '../recorder.ts';

/**
 * A number of groups in a row, wrapped along y where the device takes fewer along x. There may be some more than asked for.
 */
export function flatGroups(count: number, { maxGroups }: DeviceTraits): [x: number, y: number] {
  const x = Math.min(count, maxGroups[0]);
  return [x, Math.ceil(count / x)];
}

/** Number of this group among {@link flatGroups}. */
export function flatGroupId(k: FunctionBuilder): Value {
  return k.add(k.mul(k.groupId(1), k.groupCount(0)), k.groupId(0));
}
