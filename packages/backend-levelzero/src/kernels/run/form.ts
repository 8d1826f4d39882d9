import type { DType } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';

/** The layout of a vector's neighbours in a view: one next to the other, all the same element, or some elements apart. */
export type Access = 'dense' | 'constant' | 'strided';

/** An input or output, as far as code depends on it. */
export interface OperandForm {
  readonly dtype: DType;
  /** Which strides it has, of those that operands share; -1 of a gather input, which has its own. */
  readonly layout: number;
  /** Bytes that the address of each vector is a multiple of. */
  readonly align: number;
  /** Of a gather input: whether its last axis is dense; and whether it has any element. */
  readonly gather?: 'dense' | 'strided' | 'empty';
}

/**
 * The facts that the code for a `run` depends on besides its graph. Sizes, strides and parameters are arguments of the kernel; the
 * axes are coalesced, and padded in front to a rank that code is made for.
 */
export interface RunForm {
  readonly kernel: Kernel;
  /** Axes that are not folded. */
  readonly rowRank: number;
  readonly foldedRank: number;
  /** Which axis the neighbours of a vector lie along: the last one of these. */
  readonly along: 'rows' | 'folded';
  readonly width: Width;
  /** Type that places in memory are computed in. */
  readonly index: 'u32' | 'u64';
  /** The access by vectors to each of the shared layouts. */
  readonly layouts: readonly Access[];
  readonly inputs: readonly OperandForm[];
  readonly outputs: readonly OperandForm[];
  /** For each axis that a node names, by its place in the domain: which axis of rows, then folded; -1 where its size is 1. */
  readonly places: readonly (readonly [axis: number, place: number])[];
  /** Axes of the domain that `extent` names, and of it and of the axes not folded the count. */
  readonly rank: number;
  readonly unfolded: number;
}

/** The arguments of a kernel by name. */
export const names = {
  input: (index: number): string => `in${index}`,
  output: (index: number): string => `out${index}`,
  size: (axis: number): string => `n${axis}`,
  stride: (layout: number, axis: number): string => `s${layout}_${axis}`,
  extent: (axis: number): string => `extent${axis}`,
  gatherSize: (input: number, axis: number): string => `g${input}_n${axis}`,
  gatherStride: (input: number, axis: number): string => `g${input}_s${axis}`,
  parameter: (index: number): string => `p${index}`,
} as const;

/** Axes of a form: rows, then folded. */
export function axisCount({ rowRank, foldedRank }: RunForm): number {
  return rowRank + foldedRank;
}

/** The axis that vectors lie along. */
export function vectorAxis({ along, rowRank, foldedRank }: RunForm): number {
  return along === 'rows' ? rowRank - 1 : rowRank + foldedRank - 1;
}

/**
 * Returns whether products and sums may become one instruction. Not in `pow`, which finds what a product rounds off: that would be
 * nothing.
 */
export function contractionOf({ kernel }: RunForm): 'off' | undefined {
  return kernel.nodes.some((node) => node.kind === 'arithmetic' && node.op === 'pow') ? 'off' : undefined;
}
