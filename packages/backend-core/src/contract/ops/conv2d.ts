import type { DType } from '../capabilities.ts';
import type { DevicePtr } from '../device-ptr.ts';

/**
 * Shape of a 2-d cross-correlation (the filter is not flipped), everything packed and row-major:
 *
 * `output[n,k,p,q] = sum over c,r,s of input[n, g*C/groups + c, p*sh - ph + r*dh, q*sw - pw + s*dw] * filter[k,c,r,s]`
 *
 * where g is the group of k, and input outside the image counts as zero. (What an infinite or NaN weight gives there is not
 * specified: devices may leave the term out or multiply.)
 */
export interface Conv2dShape {
  /** `[N, C, H, W]` */
  readonly inputShape: readonly number[];
  /** `[K, C / groups, R, S]` */
  readonly filterShape: readonly number[];
  /** `[N, K, P, Q]`, which must be what follows from the rest: `P = floor((H + 2 ph - dh (R - 1) - 1) / sh) + 1` */
  readonly outputShape: readonly number[];
  /** `[sh, sw]` */
  readonly stride: readonly number[];
  /** `[ph, pw]`, zeros added on both sides */
  readonly padding: readonly number[];
  /** `[dh, dw]`, default `[1, 1]` */
  readonly dilation?: readonly number[];
  /** Default 1; divides C and K. C groups is a depthwise convolution. */
  readonly groups?: number;
  readonly dtype?: DType;
}

/** Arguments of `conv2dForward`. */
export interface Conv2dCall extends Conv2dShape {
  readonly input: DevicePtr;
  readonly filter: DevicePtr;
  readonly output: DevicePtr;
}
