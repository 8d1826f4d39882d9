import { isDeeplyFrozen } from '../contract/deep-freeze.ts';
import { reading } from '../errors/reading.ts';
import type { Kernel } from './graph.ts';
import { kernelFromJson } from './kernel-json.ts';
import { knownKernel, noteKernel } from './known-kernels.ts';

/**
 * A kernel that this copy of the package made: the given one, or for one from elsewhere (another copy, hand-made data)
 * a checked copy of it.
 *
 * @throws {BackendError} INVALID_ARGUMENT where the value is not a kernel
 */
export function checkKernel(value: unknown): Kernel {
  const found = typeof value === 'object' && value !== null ? knownKernel(value) : undefined;
  if (found !== undefined) return found;
  const checked = kernelFromJson(value);
  // What can still change is checked each time. Another copy's kernels are frozen too.
  if (reading('the kernel', () => isDeeplyFrozen(value as object))) noteKernel(value as object, checked);
  return checked;
}
