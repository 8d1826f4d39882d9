import { madeOnce } from '../made-once.ts';
import {
  type FoldNode,
  type FoldOp,
  type Kernel,
  operandsOf,
  type ScanNode,
  type ValueType,
} from '@concord/backend-core/kernel';
import { type Folding, foldingOf } from '../functions/folds.ts';

/** The order in which the folds of a kernel can be computed. */
export interface Phases {
  /** The number of folds that lie one after the other on the way to each node. */
  readonly depths: readonly number[];
  /** Indices of the fold nodes of each phase: phase p needs those before it, and finishes values of depth p + 1. */
  readonly folds: readonly (readonly number[])[];
}

const known = new WeakMap<Kernel, Phases>();

/** The phases of a kernel: as few passes over a row as the folds' dependences allow. */
export function phasesOf(kernel: Kernel): Phases {
  return madeOnce(known, kernel, () => findPhases(kernel));
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

/** A fold of a phase, or the fold of a row that belongs to a scan. */
export interface PhaseFold {
  /** The node of the fold or scan. */
  readonly index: number;
  /** The node that it folds, and that one's type. */
  readonly operand: number;
  readonly type: ValueType;
  readonly op: FoldOp;
  readonly folding: Folding;
}

/** The folds of each phase. */
export function foldsOf(kernel: Kernel): readonly (readonly PhaseFold[])[] {
  return phasesOf(kernel).folds.map((nodes) => nodes.map((index) => phaseFold(kernel, index)));
}

/** The scans of a kernel, which are computed as elements are stored. */
export interface Scans {
  readonly folds: readonly PhaseFold[];
  /** True for each whose element does not count for itself. */
  readonly exclusive: readonly boolean[];
  /** True if all go from the end of a row to its beginning. */
  readonly reverse: boolean;
}

/** The scans of a kernel; undefined where it has none. */
export function scansOf(kernel: Kernel): Scans | undefined {
  const nodes = kernel.nodes.flatMap((node, index) => (node.kind === 'scan' ? [{ node, index }] : []));
  if (nodes[0] === undefined) return undefined;
  return {
    folds: nodes.map(({ index }) => phaseFold(kernel, index)),
    exclusive: nodes.map(({ node }) => node.exclusive),
    reverse: nodes[0].node.reverse,
  };
}

/** Returns the folds of rows that are worked on in parts: those of each phase, then those of scans. */
export function partFoldsOf(kernel: Kernel): readonly (readonly PhaseFold[])[] {
  const scans = scansOf(kernel);
  return scans === undefined ? foldsOf(kernel) : [...foldsOf(kernel), scans.folds];
}

function phaseFold(kernel: Kernel, index: number): PhaseFold {
  const { op, operands } = foldAt(kernel, index);
  const [operand] = operands;
  const type = kernel.nodes[operand]?.type as ValueType;
  return { index, operand, type, op, folding: foldingOf(op, type) };
}

/** The number of values that the states of some folds have. */
export function stateLength(folds: readonly Pick<PhaseFold, 'folding'>[]): number {
  return folds.reduce((sum, { folding }) => sum + folding.state.length, 0);
}

/** Returns whether a kernel has a mean, whose factors its code is given. */
export function hasMean({ nodes }: Kernel): boolean {
  return nodes.some((node) => node.kind === 'fold' && node.op === 'mean');
}

/** Returns whether a kernel has a fold that asks for the places of elements. */
export function hasPlaces({ nodes }: Kernel): boolean {
  return nodes.some((node) => node.kind === 'fold' && (node.op === 'argmax' || node.op === 'argmin'));
}

/** The fold or scan at an index that {@link Phases} or {@link scansOf} gave. */
export function foldAt({ nodes }: Kernel, index: number): FoldNode | ScanNode {
  return nodes[index] as FoldNode | ScanNode;
}
