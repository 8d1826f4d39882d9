import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/**
 * The element-wise functions of two arguments. `max` and `min` give NaN when either is NaN; `pow` follows C99 Annex F
 * (`pow(1, NaN) = 1`).
 */
export const BINARY_OPS = ['add', 'sub', 'mul', 'div', 'max', 'min', 'pow'] as const;

/** One of {@link BINARY_OPS}. */
export type BinaryOp = (typeof BINARY_OPS)[number];

/** Shape of an element-wise function of two arguments: `output[i] = op(a[i], b[i])` for i in 0..n-1. */
export interface BinaryShape {
  readonly op: BinaryOp;
  readonly n: number;
  readonly dtype?: DType;
}

/** Arguments of `binary`. `output` may be exactly `a` or exactly `b`. */
export interface BinaryCall extends BinaryShape {
  readonly a: DevicePtr;
  readonly b: DevicePtr;
  readonly output: DevicePtr;
}
