import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/** The reductions. `max` and `min` give NaN when any element is NaN. */
export const REDUCE_OPS = ['sum', 'max', 'min', 'mean'] as const;

/** One of {@link REDUCE_OPS}. */
export type ReduceOp = (typeof REDUCE_OPS)[number];

/**
 * Shape of a reduction along one axis of a packed row-major tensor. The output is the shape without that axis. An
 * empty axis writes 0 (sum), -Infinity (max), +Infinity (min), NaN (mean).
 */
export interface ReduceShape {
  readonly op: ReduceOp;
  readonly shape: readonly number[];
  /** `0 <= axis < shape.length` */
  readonly axis: number;
  readonly dtype?: DType;
}

/** Arguments of `reduce`. */
export interface ReduceCall extends ReduceShape {
  readonly input: DevicePtr;
  readonly output: DevicePtr;
}
