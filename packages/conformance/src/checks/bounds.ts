/** Unit roundoff that the bounds are stated in: 2^-23, twice that of float32, so that truncating devices pass. */
export const U: number = 2 ** -23;
/** Smallest normal float32. Anything below may be flushed to zero. */
export const MIN_NORMAL: number = 2 ** -126;
/** Largest finite float32. */
export const MAX_F32: number = (2 - 2 ** -23) * 2 ** 127;
/** Largest finite binary16. */
export const MAX_F16 = 65504;

/** The meaning of {@link gamma}, in words. */
export const GAMMA_FORMULA = 'gamma(n) = n u / (1 - n u), u = 2^-23';

/** `n u / (1 - n u)`: the relative error of n roundings (Higham, Accuracy and Stability, lemma 3.1). */
export function gamma(n: number): number {
  return (n * U) / (1 - n * U);
}

/** Spacing of float32 at x, subnormals included. */
export function ulpF32(x: number): number {
  return 2 ** (Math.max(exponentOf(x), -126) - 23);
}

/** Spacing of binary16 at x, subnormals included. */
export function ulpF16(x: number): number {
  return 2 ** (Math.max(exponentOf(x), -14) - 10);
}

/** floor(log2 |x|); 0 for 0, NaN and infinities, where it is not used. */
function exponentOf(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude === 0 || !Number.isFinite(magnitude)) return magnitude === 0 ? -1000 : 127;
  const guess = Math.floor(Math.log2(magnitude));
  if (2 ** guess > magnitude) return guess - 1;
  return 2 ** (guess + 1) <= magnitude ? guess + 1 : guess;
}

/** The meaning of {@link productBound}. */
export const PRODUCT_FORMULA = '|alpha| gamma(k+3) sum|a||b| + gamma(3) |beta||c| + (|alpha| k + 2) 2^-126';

/** Error bound of one entry of `alpha A B + beta C`; `magnitude` is sum |a||b|. Also of conv2d, with k terms. */
export function productBound(k: number, alpha: number, beta: number, magnitude: number, old: number): number {
  const scaled = Math.abs(alpha);
  const product = magnitude === 0 ? 0 : scaled * gamma(k + 3) * magnitude;
  const kept = beta === 0 ? 0 : gamma(3) * Math.abs(beta * old);
  return product + kept + (scaled * k + 2) * MIN_NORMAL;
}

/** The meaning of {@link reduceBound}, with the d of {@link reduceDepth}. */
export const REDUCE_FORMULA = 'gamma(d) sum|x| + (n + 2) 2^-126';

/** The longest chain of additions that one of n terms may go through. */
export function reduceDepth(n: number): number {
  return Math.min(n, 1024 + 2 * Math.ceil(Math.log2(Math.max(n, 1))));
}

/** Error bound of a sum of n terms (of a mean with `mean`); `magnitude` is sum |x|, for the mean divided by n. */
export function reduceBound(n: number, mean: boolean, magnitude: number): number {
  return gamma(reduceDepth(n) + (mean ? 3 : 0)) * magnitude + (n + 2) * MIN_NORMAL;
}

/** The parts of the bound of one entry of attention. */
export interface AttentionTerms {
  readonly headDim: number;
  /** Number of visible keys. */
  readonly keys: number;
  /** max over the keys of scale sum |q||k|. */
  readonly scoreMagnitude: number;
  /** sum p |v| */
  readonly magnitude: number;
  /** sum p (3 + 2 |s - max s|) (|v| + |o|) */
  readonly spread: number;
  /** sum p expm1(2 e) (|v| + |o|), where softcap or a mask add an error e to a score. */
  readonly scoreSpread?: number;
}

/** The meaning of {@link attentionBound}. */
export const ATTENTION_FORMULA: string =
  '2 (expm1(2 delta) + gamma(4L)) sum p|v| + u sum p (3 + 2|s_j - m|)(|v_j| + |o|) + (L + 2) 2^-126, ' +
  'delta = max_j gamma(D+2) scale sum|q||k_j|';

/** The terms that {@link attentionBound} adds where there is a softcap or a mask. */
export const SCORE_FORMULA: string =
  ' + exp(2 delta) sum p expm1(2 e_j)(|v_j| + |o|), e_j = 12 u |c tanh(t_j / c)| + 2 c 2^-126 + u |t_j + mask|';

/** The parts of the bound of a logarithm of a sum of exp(score). */
export interface LseTerms extends Pick<AttentionTerms, 'headDim' | 'keys' | 'scoreMagnitude'> {
  /** sum p (3 + 2 |s - max s|) */
  readonly weightSpread: number;
  /** sum p expm1(e) */
  readonly scoreError: number;
  readonly lse: number;
  readonly largest: number;
}

/** The meaning of {@link lseBound}. */
export const LSE_FORMULA: string =
  'lse: delta + log1p(sum p expm1(e_j)) + 2 (gamma(4L) + u sum p (3 + 2|s_j - m|)) + 4 u (|m| + |lse| + 16)';

/** Error bound of a logarithm of a sum of exp(score). */
export function lseBound({ headDim, keys, scoreMagnitude, weightSpread, scoreError, lse, largest }: LseTerms): number {
  const byScores = gamma(headDim + 2) * scoreMagnitude + Math.log1p(scoreError);
  const bySum = 2 * (gamma(4 * keys) + U * weightSpread);
  return Number.isFinite(lse) ? byScores + bySum + 4 * U * (Math.abs(largest) + Math.abs(lse) + 16) : 0;
}

/** Error bound of one entry of attention. */
export function attentionBound(terms: AttentionTerms): number {
  const { headDim, keys, scoreMagnitude, magnitude, spread, scoreSpread = 0 } = terms;
  const delta = gamma(headDim + 2) * scoreMagnitude;
  const byScores = scoreSpread === 0 ? 0 : Math.exp(2 * delta) * scoreSpread;
  return 2 * (Math.expm1(2 * delta) + gamma(4 * keys)) * magnitude + byScores + U * spread + (keys + 2) * MIN_NORMAL;
}
