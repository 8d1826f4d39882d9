import type { DType } from '@concord/backend-core';
import { costOf, foldsOf, missingNodes, names as shared, type ProgramForm, scansOf } from '@concord/kernel';
import type { ArithmeticNode, Kernel, KernelNode, NodeOp } from '@concord/backend-core/kernel';

/** The neighbours of a vector in memory: side by side, all the same element, or some elements apart. */
export type Step = 'dense' | 'constant' | 'strided';

/** An input or output, as far as code depends on it. */
export interface OperandForm {
  readonly dtype: DType;
  /** True for each axis of the form along which it moves. */
  readonly moves: readonly boolean[];
  readonly step: Step;
  /** The form of what is read or written by index: whether its last axis is dense, or it has no element. */
  readonly gather?: 'dense' | 'strided' | 'empty';
}

/** The pass over rows that a command does alone, where rows are worked on in parts. */
export interface Stage {
  /** A phase of folds, then the folds of scans; the number after the last one means the pass that stores. */
  readonly phase: number;
}

/**
 * The properties of a `run` that its code depends on. Sizes, strides and parameters are words of the command. A map has no
 * folded axes: all are called rows.
 */
export interface RunForm extends ProgramForm {
  readonly kind: 'map' | 'rows';
  readonly inputs: readonly OperandForm[];
  readonly outputs: readonly OperandForm[];
  /** The outputs that are stored. */
  readonly stores: readonly number[];
  /** Vectors that are worked on side by side. */
  readonly units: number;
  /** `hasWhole`: some blocks of vectors are whole. `hasRest`: some are not. */
  readonly hasWhole: boolean;
  readonly hasRest: boolean;
  /** True if lines are worked on in segments: those of the axis of vectors, and, if that is not folded, of the last folded one. */
  readonly isSegmented: boolean;
  readonly isFoldedSegmented: boolean;
  /**
   * True if the items of a map take all lines of the last outer axis before the next segment: where neighbours along that axis
   * are neighbours in an input, so that they are still in a cache.
   */
  readonly isTransposed: boolean;
  /** True if rows are gone through from their end, by negative strides, for their scans. */
  readonly isReverse: boolean;
  /** True if rows are so long that their sums are collected in float64 between segments. */
  readonly isLong: boolean;
  readonly stage?: Stage;
  /**
   * Nodes whose values a thread keeps for the rows at hand, from the first pass that needs them on: those dear to compute that
   * more than one pass needs. Rows are one line then.
   */
  readonly kept: readonly number[];
}

/** Lines that are worked on as they are, a vector at a time. */
export const ONE_LINE: Pick<
  RunForm,
  'units' | 'isSegmented' | 'isFoldedSegmented' | 'isTransposed' | 'isReverse' | 'isLong' | 'kept'
> = {
  units: 1,
  isSegmented: false,
  isFoldedSegmented: false,
  isTransposed: false,
  isReverse: false,
  isLong: false,
  kept: [],
};

/** Names of arguments that only these kernels have. */
const own = {
  /** The size for an index of a type: an i32 goes along at most 2^31. */
  gatherSizeFor: (input: number, axis: number, type: string): string => `${shared.gatherSize(input, axis)}_${type}`,
  /** Items of a tile, and of all. */
  perTile: 'perTile',
  items: 'items',
  /** Points of a segment, and segments of a line. */
  segment: 'segment',
  segments: 'segments',
  foldedSegment: 'foldedSegment',
  foldedSegments: 'foldedSegments',
  /** Lines, or segments of lines, of a row; and of a part of one. */
  foldedItems: 'foldedItems',
  perPart: 'perPart',
  parts: 'parts',
  meanScale: 'meanScale',
  meanDivisor: 'meanDivisor',
  /** Bytes that the kept values of a node take. */
  keptBytes: 'keptBytes',
  /** The address of the states of a phase. */
  states: (phase: number): string => `states${phase}`,
} as const;

/** The names of arguments. Strides are in bytes. */
export const names: typeof shared & typeof own = { ...shared, ...own };

/** Nodes of dozens of instructions here, where the kernel package has them of a hundred or more. */
const SHORTENED: ReadonlySet<NodeOp> = new Set(['exp', 'exp2', 'tanh', 'sigmoid', 'silu', 'gelu', 'geluTanh']);
/** The {@link costOf} from which on a node takes dozens of instructions or more. */
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
