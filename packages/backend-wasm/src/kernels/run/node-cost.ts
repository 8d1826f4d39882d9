import { type Kernel, type KernelNode, type NodeOp, operandsOf } from '@concord/backend-core/kernel';
import { foldAt, phasesOf } from '@concord/kernel';

/** Nodes of dozens of instructions, and of a hundred or more. */
const DEAR: ReadonlySet<NodeOp> = new Set(['exp', 'exp2', 'tanh', 'sigmoid', 'silu', 'gelu', 'geluTanh']);
const DEAREST: ReadonlySet<NodeOp> = new Set([
  'pow',
  'expm1',
  'log',
  'log2',
  'log1p',
  'sin',
  'cos',
  'erf',
  'random',
  'rem',
]);
/** Kernels of more nodes are long enough without vectors side by side. */
const MOST_NODES = 16;

/**
 * The number of vectors that are worked on side by side. They share the cost of the loop and the constants that are read again in
 * each turn, and their sums do not wait for each other. More vectors have no room in the registers.
 */
export function unitsOf({ nodes }: Kernel): 1 | 2 | 4 {
  const has = (ops: ReadonlySet<NodeOp>): boolean =>
    nodes.some((node) => node.kind === 'arithmetic' && ops.has(node.op));
  if (nodes.length > MOST_NODES || has(DEAREST)) return 1;
  return has(DEAR) ? 2 : 4;
}

/** Nodes dear to compute, a value for each element, that more than one pass over a row needs. */
export function nodesToKeep(kernel: Kernel): readonly number[] {
  const { nodes, outputs } = kernel;
  const stored = outputs.flatMap(({ level, node }) => (level === 'element' ? [node] : []));
  const folded = phasesOf(kernel).folds.map((phase) => phase.flatMap((fold) => [...foldAt(kernel, fold).operands]));
  const needed = [...folded, stored].map((roots) => neededBy(kernel, roots));
  return nodes.flatMap((node, index) => {
    const isDear = node.kind === 'arithmetic' && (DEAR.has(node.op) || DEAREST.has(node.op));
    const passes = needed.filter((nodesOfPass) => nodesOfPass.has(index)).length;
    return isDear && node.level === 'element' && passes > 1 ? [index] : [];
  });
}

/** Nodes that a pass computes for some others: those after a fold are computed before. */
function neededBy({ nodes }: Kernel, roots: readonly number[]): ReadonlySet<number> {
  const needed = new Set<number>();
  const stack = [...roots];
  while (stack.length > 0) {
    const index = stack.pop() as number;
    const node = nodes[index] as KernelNode;
    if (needed.has(index) || node.kind === 'fold') continue;
    needed.add(index);
    stack.push(...operandsOf(node));
  }
  return needed;
}
