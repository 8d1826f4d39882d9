import type { ArithmeticNode, Kernel, KernelNode, NodeOp } from '@concord/backend-core/kernel';
import { costOf, foldsOf, missingNodes, scansOf } from '@concord/kernel';

/** Nodes of dozens of instructions here, where the kernel package has them of a hundred or more. */
const SHORTENED: ReadonlySet<NodeOp> = new Set(['exp', 'exp2', 'tanh', 'sigmoid', 'silu', 'gelu', 'geluTanh']);
/** From this {@link costOf} on a node takes dozens of instructions or more. */
const DEAR = 16;
/** Kernels of more nodes are long enough without vectors side by side. */
const MOST_NODES = 16;

/**
 * The number of vectors that are worked on side by side. They share the cost of the loop and the constants that are read again in
 * each turn, and their sums do not wait for each other. More vectors have no room in the registers.
 */
export function unitsOf({ nodes }: Kernel): 1 | 2 | 4 {
  const dear = nodes.filter(isDear);
  if (nodes.length > MOST_NODES || dear.some(({ op }) => !SHORTENED.has(op))) return 1;
  return dear.length > 0 ? 2 : 4;
}

function isDear(node: KernelNode): node is ArithmeticNode {
  return node.kind === 'arithmetic' && costOf(node) >= DEAR;
}

/** Nodes dear to compute, a value for each element, that more than one pass over a row needs. */
export function nodesToKeep(kernel: Kernel): readonly number[] {
  const { nodes, outputs } = kernel;
  const stored = outputs.flatMap(({ level, node }) => (level === 'element' ? [node] : []));
  stored.push(...(scansOf(kernel)?.folds ?? []).map(({ operand }) => operand));
  const folded = foldsOf(kernel).map((phase) => phase.map(({ operand }) => operand));
  // What a pass computes: values after a fold are computed before.
  const needed = [...folded, stored].map(
    (roots) => new Set(missingNodes(kernel, roots, (node) => nodes[node]?.kind === 'fold')),
  );
  return nodes.flatMap((node, index) => {
    const passes = needed.filter((nodesOfPass) => nodesOfPass.has(index)).length;
    return isDear(node) && node.level === 'element' && passes > 1 ? [index] : [];
  });
}
