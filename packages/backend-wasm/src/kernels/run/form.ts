import type { DType } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';

/** The neighbours of a vector in memory: side by side, all the same element, or some elements apart. */
export type Step = 'dense' | 'constant' | 'strided';

/** An input or output, as far as code depends on it. */
export interface OperandForm {
  readonly dtype: DType;
  /** For each axis of the form: true if it moves along the axis. */
  readonly moves: readonly boolean[];
  readonly step: Step;
  /** Of a gather input: whether its last axis is dense; and whether it has any element. */
  readonly gather?: 'dense' | 'strided' | 'empty';
}

/** The pass over rows that a command does alone, where rows are worked on in parts. */
export interface Stage {
  /** A phase of folds; the number after the last one means the pass that stores. */
  readonly phase: number;
}

/**
 * The properties of a `run` that its code depends on besides its graph. Sizes, strides and parameters are words of the command. Axes
 * are coalesced: first `rowRank` that are not folded, then `foldedRank`.
 */
export interface RunForm {
  readonly kernel: Kernel;
  readonly kind: 'map' | 'rows';
  readonly rowRank: number;
  /** 0 of a map, whose axes are all called rows. */
  readonly foldedRank: number;
  /** Vectors lie along the last of these axes. */
  readonly along: 'rows' | 'folded';
  readonly inputs: readonly OperandForm[];
  readonly outputs: readonly OperandForm[];
  /** Of each axis of the domain that a node names: which axis of the form it is. */
  readonly places: readonly (readonly [axis: number, place: number])[];
  /** Axes of the domain, and how many of them are not folded. */
  readonly rank: number;
  readonly unfolded: number;
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
  readonly isTurned: boolean;
  /** True if rows are so long that their sums are collected in float64 between segments. */
  readonly isLong: boolean;
  readonly stage?: Stage;
  /**
   * Nodes whose values a thread keeps for the rows at hand, from the first pass that needs them on: those dear to compute that
   * more than one pass needs. Rows are one line then.
   */
  readonly kept: readonly number[];
}

/** The names of words. Strides are in bytes. */
export const names = {
  input: (index: number): string => `in${index}`,
  output: (index: number): string => `out${index}`,
  size: (axis: number): string => `n${axis}`,
  stride: (operand: number, axis: number): string => `s${operand}_${axis}`,
  extent: (axis: number): string => `extent${axis}`,
  gatherSize: (input: number, axis: number, type: string): string => `g${input}_n${axis}_${type}`,
  gatherStride: (input: number, axis: number): string => `g${input}_s${axis}`,
  parameter: (index: number): string => `p${index}`,
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

/** The axis that vectors lie along. */
export function vectorAxis({ along, rowRank, foldedRank }: RunForm): number {
  return along === 'rows' ? rowRank - 1 : rowRank + foldedRank - 1;
}

/** The axis of the form that an `index` or `rowIndex` is of; -1 if the axis has one point. */
export function placeOf(form: RunForm, axis: number, kind: 'index' | 'rowIndex'): number {
  const count = kind === 'index' ? form.rank : form.unfolded;
  const wanted = axis < 0 ? axis + count : axis;
  return form.places.find(([named]) => named === wanted)?.[1] ?? -1;
}

/** A form as text: equal for equal code. */
export function formKey(form: RunForm): string {
  return JSON.stringify({ ...form, kernel: form.kernel.key });
}
