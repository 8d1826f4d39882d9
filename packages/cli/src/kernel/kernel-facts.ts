import { type Kernel, type KernelNode, operandsOf } from '@concord/backend-core/kernel';

/** The facts that follow from a kernel's graph. */
export interface KernelFacts {
  /** The number of its folds. */
  readonly folds: number;
  /** The longest chain of folds of which each needs the result of the one before. */
  readonly stages: number;
}

/** The folds of a kernel, and in how many steps they can be computed: a fold of what another fold gave comes after it. */
export function kernelFacts({ nodes }: Kernel): KernelFacts {
  const stages = stagesOf(nodes);
  return { folds: nodes.filter(({ kind }) => kind === 'fold').length, stages: Math.max(0, ...stages) };
}

/** For each node, the folds on the longest way to it, itself included. */
export function stagesOf(nodes: readonly KernelNode[]): readonly number[] {
  const stages: number[] = [];
  for (const node of nodes) {
    const before = Math.max(0, ...operandsOf(node).map((operand) => stages[operand] as number));
    stages.push(before + (node.kind === 'fold' ? 1 : 0));
  }
  return stages;
}
