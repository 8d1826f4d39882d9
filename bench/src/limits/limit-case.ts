import type { ComputeBackend, DevicePtr, DType } from '@concord/backend-core';

/** What an entry of a result should be, in float64. */
export interface Expected {
  readonly value: number;
  /** Sum of the magnitudes of its terms, which rounding errors are measured by. 0 wants the value itself. */
  readonly magnitude: number;
}

/** A case on a device, ready to run. */
export interface Trial {
  /** Queues one call. */
  run(): void;
  readonly output: DevicePtr;
  readonly dtype: DType;
  readonly length: number;
  /** Entry `index` of the output. */
  expected(index: number): Expected;
  free(): void;
}

/** An op and sizes, by the names that the other side of the comparison gives them. */
export interface LimitCase {
  readonly op: string;
  readonly name: string;
  /** Multiplications and additions, or else bytes read and written, by which the speed is told. */
  readonly flops?: number;
  readonly bytes?: number;
  /** Makes the operands. */
  place(backend: ComputeBackend): Trial;
}
