import type { DeviceTraits } from './recorder.ts';

/**
 * The maximum number of iterations that the loops of an invocation can take, all loops together. The iteration that only ends a loop counts, and in
 * it, once more, each loop inside: `for i < n { for j < m {} }` takes `n (1 + m + 1) + 2`.
 *
 * lavapipe (Mesa's `LP_MAX_TGSI_LOOP_ITERATIONS`) ends loops beyond that without a word, and what they would have added is
 * missing. It cannot be told from other software devices, so all of them are treated like it.
 */
export function maxLoopIterations({ isSoftware }: DeviceTraits): number {
  return isSoftware ? 65_535 : Infinity;
}
