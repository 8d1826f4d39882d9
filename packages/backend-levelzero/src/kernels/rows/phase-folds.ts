import type { FoldNode, Kernel } from '@concord/backend-core/kernel';
import { foldingOf, phasesOf } from '@concord/kernel';
import type { CombineParams } from '../stages/combine.spv.ts';

/** The folds that a pass over rows makes. */
export interface PhaseFolds {
  readonly folds: CombineParams['folds'];
  /** Words of all of their states. */
  readonly words: number;
}

/** The folds of each pass over the rows of a kernel. */
export function phaseFolds(kernel: Kernel): readonly PhaseFolds[] {
  return phasesOf(kernel).folds.map((nodes) => {
    const folds = nodes.map((index) => {
      const node = kernel.nodes[index] as FoldNode;
      return { op: node.op, type: kernel.nodes[node.operands[0]]?.type ?? node.type };
    });
    return { folds, words: folds.reduce((sum, { op, type }) => sum + foldingOf(op, type).state.length, 0) };
  });
}
