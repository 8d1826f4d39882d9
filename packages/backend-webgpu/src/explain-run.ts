import type { Explanation } from '@concord/backend-core';
import { checkedRun, checkKernel, type Kernel, type RunShape } from '@concord/backend-core/kernel';
import { LaunchPlans } from '@concord/variants';
import { DEFAULT_TRAITS } from './kernels/recorder.ts';
import { explainPlan, PLANNING } from './kernels/launch-plan.ts';

/**
 * The launches of a kernel, with their WGSL, on a device that has only what WebGPU promises of every device. Needs no
 * GPU. `explain` of a backend says it for its own device, whose limits and features may lead to other code.
 *
 * @throws {BackendError} INVALID_ARGUMENT and UNSUPPORTED, as `run` on such a device
 */
export function explainRun(kernel: Kernel, call: Omit<RunShape, 'kernel'>): Explanation {
  const checked = checkKernel(kernel);
  const geometry = checkedRun(checked, { inputs: {}, outputs: {}, ...call });
  if (geometry.outputs.every(({ extent }) => extent === 0)) return { passes: [] };
  return explainPlan(new LaunchPlans(PLANNING, DEFAULT_TRAITS).ofShape({ kernel: 'run', call: geometry }));
}
