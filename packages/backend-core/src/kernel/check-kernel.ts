import { isDeeplyFrozen } from '../contract/deep-freeze.ts';
import type { Kernel } from './graph.ts';
import { kernelFromJson } from './kernel-json.ts';
import { knownKernel, noteKernel } from './known-kernels.ts';

/**
 * A kernel that this copy of the package made: the given one, or for one from elsewhere (another copy, hand-made data)
 * a checked copy of it.
 *
 * @throws {BackendError} INVALID_ARGUMENT where the value is no kernel
 */
export function checkKernel(value: unknown): Kernel {
  const found = typeof value === 'object' && value !== null ? knownKernel(value) : undefined;
  if (found !== undefined) return found;
  // Read once: what is checked is what is used, whatever the value says the next time.
  const checked = kernelFromJson(typeof value === 'object' ? (JSON.parse(JSON.stringify(value)) as unknown) : value);
  // What can still change is checked each time. Another copy's kernels are frozen too.
  if (isDeeplyFrozen(value as object)) noteKernel(value as object, checked);
  return checked;
}
