import { type FoldNode, type Kernel, operandsOf } from '@concord/backend-core/kernel';

/** The order in which the folds of a kernel can be computed. */
export interface Phases {
  /** For each node, how many folds lie one after the other on the way to it. */
  readonly depths: readonly number[];
  /** Indices of the fold nodes of each phase: phase p needs those before it, and finishes values of depth p + 1. */
  readonly folds: readonly (readonly number[])[];
}

const known = new WeakMap<Kernel, Phases>();

/** The phases of a kernel: as few passes over a row as the folds' dependences allow. */
export function phasesOf(kernel: Kernel): Phases {
  let phases = known.get(kernel);
  if (phases === undefined) {
    phases = findPhases(kernel);
    known.set(kernel, phases);
  }
  return phases;
}

function findPhases({ nodes }: Kernel): Phases {
  const depths: number[] = [];
  const folds: number[][] = [];
  for (const [index, node] of nodes.entries()) {
    const depth = Math.max(0, ...operandsOf(node).map((operand) => depths[operand] as number));
    if (node.kind === 'fold') (folds[depth] ??= []).push(index);
    depths.push(node.kind === 'fold' ? depth + 1 : depth);
  }
  return { depths, folds };
}

/** The fold node at an index that {@link Phases} gave. */
export function foldAt({ nodes }: Kernel, index: number): FoldNode {
  return nodes[index] as FoldNode;
}
