import type { Kernel as KernelGraph } from '@concord/backend-core/kernel';
import type { Kernel } from '../kernel.ts';
import type { RunSpec } from './run-spec.ts';

const made = new WeakMap<KernelGraph, Map<string, Kernel>>();

/** The kernel that is generated for a graph, the same for the same specification. */
export function kernelOfGraph<Spec extends RunSpec>(
  family: string,
  { kernel: graph, ...spec }: Spec,
  generate: (name: string, spec: Spec) => Kernel,
): Kernel {
  let kernels = made.get(graph);
  if (kernels === undefined) {
    kernels = new Map();
    made.set(graph, kernels);
  }
  const key = family + JSON.stringify(spec);
  let kernel = kernels.get(key);
  if (kernel === undefined) {
    kernel = generate(`${family} ${graph.name}`, { kernel: graph, ...spec } as Spec);
    kernels.set(key, kernel);
  }
  return kernel;
}
