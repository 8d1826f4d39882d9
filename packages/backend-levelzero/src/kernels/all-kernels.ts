import { allKernels as attention } from './attention/plan.ts';
import { allKernels as conv2d } from './conv2d/plan.ts';
import { allKernels as gemm } from './gemm/plan.ts';
import type { Kernel } from './kernel.ts';
import type { DeviceTraits } from './recorder.ts';
import { allKernels as run } from './run/all-kernels.ts';
import { allKernels as topK } from './top-k/plan.ts';

const FAMILIES = [gemm, conv2d, attention, topK, run];

/**
 * Every kernel that can run on such a device: every variant of every family, with every set of parameters; of `run`, which
 * has as many as there are graphs, those of representative calls.
 */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return FAMILIES.flatMap((kernelsOfFamily) => kernelsOfFamily(traits));
}
