import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/** `'N'`: as stored. `'T'`: transposed. `'C'`: conjugate transposed, which for real data is `'T'`. */
export type Transpose = 'N' | 'T' | 'C';

/**
 * Shape of `C = alpha * op(A) * op(B) + beta * C`, row-major.
 *
 * op(A) is m x k, op(B) is k x n, C is m x n. Leading dimensions count elements between the starts of two stored rows.
 */
export interface GemmShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Default `'N'`. With `'T'` A is stored k x m. */
  readonly transA?: Transpose;
  /** Default `'N'`. With `'T'` B is stored n x k. */
  readonly transB?: Transpose;
  /** Default 1; rounded to float32 first. 0: A and B are not read. */
  readonly alpha?: number;
  /** Default 0; rounded to float32 first. 0: C is not read, so NaN in it does not matter. */
  readonly beta?: number;
  /** Default: the stored row of A (k, or m when transposed). */
  readonly lda?: number;
  /** Default: the stored row of B (n, or k when transposed). */
  readonly ldb?: number;
  /** Default: n. */
  readonly ldc?: number;
  /** Storage of A, B and C. Default `'f32'`. `'f16'` accumulates in float32 and rounds once, to nearest even. */
  readonly dtype?: DType;
}

/** Arguments of `gemm`: {@link GemmShape} and its operands. `k = 0` gives `C = beta * C`. */
export interface GemmCall extends GemmShape {
  readonly a: DevicePtr;
  readonly b: DevicePtr;
  readonly c: DevicePtr;
}
