import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/** Shape of `O = softmax(scale * Q K^T) V` for every (batch, head), all packed and row-major. */
export interface AttentionShape {
  readonly batch: number;
  readonly heads: number;
  /** Rows of Q and O. */
  readonly seqQ: number;
  /** Rows of K and V. */
  readonly seqKv: number;
  /** Columns of all four; at most `capabilities.limits.maxHeadDim`. */
  readonly headDim: number;
  /** Positive and finite; rounded to float32 first. Usually `1 / sqrt(headDim)`. */
  readonly scale: number;
  /** Default false. True: query i sees key j when j <= i. */
  readonly causal?: boolean;
  readonly dtype?: DType;
}

/** Arguments of `attention`: q and o are `[batch, heads, seqQ, headDim]`, k and v `[batch, heads, seqKv, headDim]`. */
export interface AttentionCall extends AttentionShape {
  readonly q: DevicePtr;
  readonly k: DevicePtr;
  readonly v: DevicePtr;
  readonly o: DevicePtr;
}
