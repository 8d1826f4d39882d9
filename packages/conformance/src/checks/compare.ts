import type { StoredFloatDType } from '@concord/backend-core';
import { CaseFailure, type Mismatch } from '../harness/case.ts';
import type { Random } from '../harness/random.ts';

/** Values at which functions go wrong: NaN, infinities, zeros, limits, where formulas cancel or change over. */
export const SPECIAL_VALUES: readonly number[] = [
  ...[Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3],
  ...[2 ** -126, 1e-30, 2.1e-8, 1e-4, 0.03, 0.24, 0.66, 1.00001, 4, 5.5, 8.1, 9.02, 13.2, 16.7, 88, 88.73, 89]
    .concat([103.9, 104, 200, 1000, 8_388_609, 16_777_216, 2_147_483_647, 4_294_967_295, 1e20, 3.4028234e38])
    .flatMap((x) => [x, -x]),
].map(Math.fround);

/** Float32 values below the smallest normal one. */
export const SUBNORMALS: readonly number[] = [2 ** -149, 2 ** -140, 2 ** -127, 2 ** -126 - 2 ** -149].flatMap((x) => [
  x,
  -x,
]);

/** Exponents spread over all of float32, mantissas random. */
export function drawAnyMagnitude(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-125, 126));
}

/** Magnitudes where functions bend. */
export function drawModerate(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-12, 6));
}

/** Unit roundoff that the bounds are stated in: 2^-23, twice that of float32, so that truncating devices pass. */
const U: number = 2 ** -23;
/** Smallest normal float32. Anything below may be flushed to zero. */
export const MIN_NORMAL: number = 2 ** -126;
/** Largest finite float32. */
export const MAX_F32: number = (2 - 2 ** -23) * 2 ** 127;
/** Half a step above the largest finite number of each format, from where on everything rounds to infinity. */
const OVERFLOW = { f32: MAX_F32 * (1 + 2 ** -25), f16: 65520, bf16: (2 - 2 ** -8) * 2 ** 127 };

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

/** Spacing of a format at x, subnormals included. */
export function ulpOf(format: StoredFloatDType, x: number): number {
  if (format === 'bf16') return 2 ** 16 * ulpF32(x);
  return format === 'f32' ? ulpF32(x) : ulpF16(x);
}

/** floor(log2 |x|); 0 for 0, NaN and infinities, where it is not used. */
function exponentOf(x: number): number {
  const magnitude = Math.abs(x);
  if (magnitude === 0 || !Number.isFinite(magnitude)) return magnitude === 0 ? -1000 : 127;
  const guess = Math.floor(Math.log2(magnitude));
  if (2 ** guess > magnitude) return guess - 1;
  return 2 ** (guess + 1) <= magnitude ? guess + 1 : guess;
}

/** Error bound of one entry of `alpha A B + beta C`; `magnitude` is sum |a||b|. Also of conv2d, with k terms. */
export function productBound(k: number, alpha: number, beta: number, magnitude: number, old: number): number {
  const scaled = Math.abs(alpha);
  const product = magnitude === 0 ? 0 : scaled * gamma(k + 3) * magnitude;
  const kept = beta === 0 ? 0 : gamma(3) * Math.abs(beta * old);
  return product + kept + (scaled * k + 2) * MIN_NORMAL;
}

/** The longest chain of additions that one of n terms may go through. */
export function reduceDepth(n: number): number {
  return Math.min(n, 1024 + 2 * Math.ceil(Math.log2(Math.max(n, 1))));
}

/** Error bound of a sum of n terms (of a mean with `mean`); `magnitude` is sum |x|, for the mean divided by n. */
export function reduceBound(n: number, mean: boolean, magnitude: number): number {
  return gamma(reduceDepth(n) + (mean ? 3 : 0)) * magnitude + (n + 2) * MIN_NORMAL;
}

/** The parts of the bound of one entry of attention. */
interface AttentionTerms {
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

/** The parts of the bound of a logarithm of a sum of exp(score). */
interface LseTerms extends Pick<AttentionTerms, 'headDim' | 'keys' | 'scoreMagnitude'> {
  /** sum p (3 + 2 |s - max s|) */
  readonly weightSpread: number;
  /** sum p expm1(e) */
  readonly scoreError: number;
  readonly lse: number;
  readonly largest: number;
}

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

/** The tolerance of results around the wanted values, and their format. */
export interface Tolerance {
  /** Largest error of entry i, absolute. 0: the wanted value rounded to the format. */
  readonly bound: (index: number) => number;
  readonly format?: StoredFloatDType;
  /** Other acceptable values of entry i. */
  readonly also?: (index: number) => readonly number[];
  /** The operands of entry i, for the message. */
  readonly inputs?: (index: number) => string;
}

/**
 * Compares results with wanted values, all entries of them.
 *
 * NaN must be where it is wanted and nowhere else. An infinity passes where the interval around the wanted value
 * reaches beyond the largest finite number. The sign of zero is not compared.
 *
 * @throws {CaseFailure} with the first bad index, got, want, bound, the distance in ulp, and how many are wrong
 */
export function compareAll(
  what: string,
  got: ArrayLike<number>,
  want: ArrayLike<number>,
  { bound, format = 'f32', also, inputs }: Tolerance,
): void {
  if (got.length !== want.length) throw new CaseFailure(`${what}: ${got.length} entries instead of ${want.length}`);
  const accept = (index: number, wanted: number): boolean =>
    isWithin(got[index] as number, wanted, bound(index), OVERFLOW[format]);
  let first = -1;
  let count = 0;
  for (let i = 0; i < want.length; i++) {
    // Most are equal; the bound need not be worked out for them.
    if (got[i] === want[i] || accept(i, want[i] as number)) continue;
    if (also?.(i).some((other) => accept(i, other)) === true) continue;
    if (first < 0) first = i;
    count++;
  }
  if (first < 0) return;
  const actual = got[first] as number;
  const wanted = want[first] as number;
  const ulp = ulpOf(format, wanted);
  const distance = Math.abs(actual - wanted) / ulp;
  throw mismatchOf({
    ...{ what, unit: 'element', wrong: count, total: want.length, index: first },
    ...{ got: actual, want: wanted, bound: bound(first) },
    ...(Number.isFinite(distance) ? { ulp: distance } : {}),
    ...(inputs === undefined ? {} : { inputs: inputs(first) }),
  });
}

/** The origin of a NaN that was not computed. */
const NAN_BEFORE = '; NaN is what an output holds before the call, and what lies in gaps and guards around operands';

function mismatchOf(mismatch: Mismatch): CaseFailure {
  const { what, wrong, total, index, got, want, bound, ulp, inputs } = mismatch;
  return new CaseFailure(
    `${what}: ${wrong} of ${total} wrong; first at [${index}]: got ${got}, want ${want}` +
      `${inputs === undefined ? '' : ` = ${inputs}`}, ` +
      `${bound === 0 ? 'exactly' : `bound ${bound.toPrecision(3)}`}` +
      `${ulp === undefined ? '' : `, off by ${ulp.toPrecision(3)} ulp`}` +
      `${Number.isNaN(got) && !Number.isNaN(want) ? NAN_BEFORE : ''}`,
    mismatch,
  );
}

function isWithin(got: number, want: number, bound: number, overflow: number): boolean {
  if (Number.isNaN(want)) return Number.isNaN(got);
  if (Number.isNaN(got)) return false;
  // Object.is would tell the zeros apart.
  if (got === want) return true;
  if (got === Infinity) return want + bound >= overflow;
  if (got === -Infinity) return want - bound <= -overflow;
  if (Math.abs(want) === Infinity) return false;
  return Math.abs(got - want) <= bound;
}

/**
 * Compares bytes.
 *
 * @throws {CaseFailure} with the first bad offset
 */
export function compareBytes(what: string, got: Uint8Array, want: Uint8Array): void {
  if (got.length !== want.length) throw new CaseFailure(`${what}: ${got.length} bytes instead of ${want.length}`);
  // A plain loop: some operands have 64 MiB.
  let index = 0;
  while (index < want.length && got[index] === want[index]) index++;
  if (index === want.length) return;
  const wrong = want.reduce((count, byte, i) => (got[i] === byte ? count : count + 1), 0);
  const [actual, wanted] = [got[index] as number, want[index] as number];
  throw new CaseFailure(`${what}: byte ${index} of ${want.length} is ${actual}, want ${wanted}`, {
    ...{ what, unit: 'byte', wrong, total: want.length, index },
    ...{ got: actual, want: wanted, bound: 0 },
  });
}
