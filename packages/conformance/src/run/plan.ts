import type { DType } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';

/** Where an operand lies: in which of the case's allocations, and how many bytes after its start. */
export interface Place {
  readonly buffer: number;
  readonly byteOffset: number;
}

/** One operand of a planned `run`, without its place. */
export interface PlannedOperand {
  readonly name: string;
  readonly dtype: DType;
  /** Sizes of its own axes. */
  readonly shape: readonly number[];
  /** Elements from one index to the next, one per axis. */
  readonly strides: readonly number[];
  /** True if the call says the strides, or leaves them out as the default. */
  readonly saysStrides: boolean;
  readonly isOutput: boolean;
  /** True if it is read or written by index, so that the call says its shape. */
  readonly isGather: boolean;
  /** The element at each distance from the first, as bits; those in gaps mean nothing. Undefined for an output that is written whole. */
  readonly bits?: Uint32Array;
}

/** A call of `run` as data: what runs, on what, and where everything lies. */
export interface RunPlan {
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  readonly folded: number;
  /** In the order of the kernel's inputs, then of its outputs. */
  readonly operands: readonly PlannedOperand[];
  /** Of the operands, in their order. */
  readonly places: readonly Place[];
  readonly params: Readonly<Record<string, number>>;
}
