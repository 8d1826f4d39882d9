import type { OpName } from '../contract/capabilities.ts';
import type { DType } from '../contract/element-types.ts';
import type { Operand } from '../implement/operand.ts';
import type { Feature } from '../ops/op-definition.ts';
import type { Kernel } from './graph.ts';
import type { NumberType } from './value-types.ts';

/** The checked layout of one input or output. */
export interface RunLayout {
  readonly name: string;
  /** Type of its value in the kernel. */
  readonly type: NumberType;
  /** Element type in memory. */
  readonly dtype: DType;
  readonly access: 'element' | 'row' | 'gather' | 'scatter';
  /** Sizes of its own axes: the domain's, those that are not folded, or its own where it is read or written by index. */
  readonly shape: readonly number[];
  /** Elements from one index to the next, one per axis; 0 for an axis of size 1. */
  readonly strides: readonly number[];
  /** Elements from the first to the last, gaps included; 0 if there is none. */
  readonly extent: number;
}

/**
 * The checked geometry of a `run`: all but addresses and parameters. Calls that agree in it share the object, so that a
 * backend can keep a plan by it (in a WeakMap). Evicted after about 1,000 other geometries.
 */
export interface CheckedRun {
  /** Unique in this process. */
  readonly id: number;
  readonly kernel: Kernel;
  readonly shape: readonly number[];
  /** The number of last axes that are folded. */
  readonly folded: number;
  /** Product of the sizes of the axes that are not folded: rows where the kernel has any, else points. */
  readonly rowCount: number;
  /** Product of the sizes of the folded axes; 1 where none is. */
  readonly rowLength: number;
  /** Inputs in the order of `kernel.inputs`. */
  readonly inputs: readonly RunLayout[];
  /** Outputs in the order of `kernel.outputs`. */
  readonly outputs: readonly RunLayout[];
  /** Features that its kernel must have. Default: none. */
  readonly needs?: readonly Feature<'run'>[];
}

/** A checked `run` with its operands in the device's memory. */
export interface ResolvedRun<Buffer> {
  readonly geometry: CheckedRun;
  /** Inputs in the order of `kernel.inputs`; undefined for one without elements. */
  readonly inputs: readonly (Operand<Buffer> | undefined)[];
  /** Outputs in the order of `kernel.outputs`; undefined for one without elements. */
  readonly outputs: readonly (Operand<Buffer> | undefined)[];
  /** Parameters in the order of `kernel.params`: f32 rounded to float32, integers in range. */
  readonly params: readonly number[];
  /**
   * True for each element output that lies exactly over element inputs: same address, dtype and strides. Any other
   * overlap was refused.
   */
  readonly inPlace: readonly boolean[];
  /** The method that was called, for messages, where it is not `run`. */
  readonly opName?: OpName;
}
