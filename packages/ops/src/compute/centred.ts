import type { KernelBuilder, Value } from '@concord/backend-core/kernel';

type Float = Value<'f32'>;

/**
 * The deviations of a row from its mean, and the mean of their squares, by the corrected two-pass algorithm: Chan, Golub, LeVeque,
 * Algorithms for computing the sample variance, 1983.
 *
 * The mean of a long row that lies far from 0 may be off by more than its deviation. What is left of it is the mean of the
 * differences, which is folded beside the sum of their squares: no further pass over the row.
 */
export function centred(k: KernelBuilder, x: Float): { readonly deviation: Float; readonly variance: Float } {
  const difference = k.sub(x, k.fold('mean', x));
  const rest = k.fold('mean', difference);
  const squares = k.fold('mean', k.mul(difference, difference));
  // Of equal elements rounding may leave less than nothing.
  return { deviation: k.sub(difference, rest), variance: k.max(k.sub(squares, k.mul(rest, rest)), 0) };
}

/** The sum of the squared deviations of a row of `count` elements from its mean, computed as {@link centred} does. */
export function squaredDeviations(k: KernelBuilder, x: Float, count: Float): Float {
  const difference = k.sub(x, k.fold('mean', x));
  const rest = k.fold('sum', difference);
  const squares = k.fold('sum', k.mul(difference, difference));
  return k.max(k.sub(squares, k.mul(rest, k.div(rest, count))), 0);
}

/** The square root of a sum of squares, whose gradient is 0 where that is 0, as PyTorch's of norms and deviations. */
export function rootOf(k: KernelBuilder, x: Float): Float {
  return k.select(k.eq(x, 0), 0, k.sqrt(x));
}
