import type { KernelNode, NodeOp } from '@concord/backend-core/kernel';
import type { RunToPlan } from './call-geometry.ts';

/** The cost of nodes that are more than an instruction or two, in multiply-adds of one element. */
const COSTS: Readonly<Partial<Record<NodeOp, number>>> = {
  div: 8,
  rem: 16,
  pow: 80,
  sqrt: 8,
  rsqrt: 8,
  exp: 16,
  exp2: 16,
  expm1: 24,
  log: 24,
  log2: 24,
  log1p: 32,
  sin: 40,
  cos: 40,
  tanh: 24,
  sigmoid: 24,
  silu: 24,
  gelu: 40,
  geluTanh: 40,
  erf: 40,
  random: 60,
};

/** A gather: its address, its bounds and a separate load. */
const PER_GATHER = 16;

/** Multiply-adds of one computation of all nodes at a number of points, at most. */
export function workOf({ geometry }: RunToPlan, points: number): number {
  return points * geometry.kernel.nodes.reduce((sum, node) => sum + costOf(node), 0);
}

function costOf(node: KernelNode): number {
  switch (node.kind) {
    case 'arithmetic':
      return COSTS[node.op] ?? 2;
    case 'gather':
      return PER_GATHER;
    case 'fold':
      return 4;
    default:
      return 1;
  }
}
