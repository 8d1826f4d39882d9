import { conv2dReference } from '@concord/backend-cpu/reference';
import type { FilterStep } from './filter-steps.ts';

/** The comparison of the device's result with the oracle's. */
export interface CheckResult {
  readonly values: number;
  /** The number of those that are not the oracle's. */
  readonly different: number;
}

/** Runs the steps on the float64 oracle, which every value of the device has to equal: all sums are exact in float32. */
export function checkSteps(steps: readonly FilterStep[], planes: Float32Array, got: Float32Array): CheckResult {
  let want: ArrayLike<number> = planes;
  for (const { shape, filter } of steps) want = conv2dReference(shape, want, filter).value;
  const different = got.filter((value, index) => value !== want[index]).length;
  return { values: want.length, different: different + Math.abs(want.length - got.length) };
}
