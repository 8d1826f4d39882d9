import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/**
 * The element-wise functions of one argument. `gelu` is the exact one, `x * Phi(x) = x/2 * erfc(-x / sqrt 2)`; `silu`
 * is `x * sigmoid(x)`. NaN in, NaN out, for relu too; other special values as C99 Annex F.
 */
export const UNARY_OPS = ['relu', 'sigmoid', 'tanh', 'exp', 'log', 'sqrt', 'abs', 'neg', 'gelu', 'silu'] as const;

/** One of {@link UNARY_OPS}. */
export type UnaryOp = (typeof UNARY_OPS)[number];

/** Shape of an element-wise function: `output[i] = op(input[i])` for i in 0..n-1. */
export interface UnaryShape {
  readonly op: UnaryOp;
  readonly n: number;
  readonly dtype?: DType;
}

/** Arguments of `unary`. `output` may be exactly `input`. */
export interface UnaryCall extends UnaryShape {
  readonly input: DevicePtr;
  readonly output: DevicePtr;
}
