/**
 * x^y of 32-bit floats, scalars or vectors. |x|^y = 2^(y log2 |x|). The exponential multiplies the relative error of
 * its argument by up to 88, so log2 |x| and its product with y are worked out as sums of two floats, to about 28 bits:
 * from log(1 + f) = f - f^2/2 + f^3 p(f), times log2 e, plus the exponent, and last times y. What a product or sum
 * rounds off is found with fma (T. J. Dekker, A floating-point technique for extending the available precision,
 * Numerische Mathematik 18, 1971).
 *
 * Special values as C99 Annex F says.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { expm1Reduced, roundedProduct, scaled } from './exp.spv.ts';
import { atLeast, atMost, bitsOf } from './float-bits.ts';
import { log1pTail, logReduce } from './log.spv.ts';

const LN2 = 0.69314718;
/** log2 e, rounded to a float, and the rest. */
const LOG2_E_HI: number = Math.fround(Math.LOG2E);
const LOG2_E_LO: number = Math.LOG2E - LOG2_E_HI;
/** Beyond it the result is 0, 1 or infinite, and every exponent an even number. */
const MOST_TIMES = 2 ** 32;

/** The sum of two floats, the second small beside the first. */
interface Pair {
  readonly hi: Value;
  readonly lo: Value;
}

/** x^y. */
export function pow(k: FunctionBuilder, x: Value, y: Value): Value {
  const base = k.math('fabs', x);
  const times = atMost(k, atLeast(k, y, -MOST_TIMES), MOST_TIMES);
  const { exponent, f, isZero } = logReduce(k, base);
  const magnitude = exp2Pair(k, product(k, log2Pair(k, exponent, f), times));

  const [zero, one] = [k.constant(x.type, 0), k.constant(x.type, 1)];
  const [infinity, nan] = [k.constant(x.type, Infinity), k.constant(x.type, Number.NaN)];
  const isInfinite = k.eq(base, Infinity);
  const falls = k.eq(isInfinite, k.lt(times, 0));
  const limited = k.select(k.or(isZero, isInfinite), k.select(falls, zero, infinity), magnitude);
  const isNegative = k.slt(bitsOf(k, x), 0);
  const isInteger = k.eq(k.math('floor', times), times);
  const halved = k.mul(times, 0.5);
  const isOdd = k.and(isInteger, k.ne(k.math('floor', halved), halved));
  const signed = k.select(k.and(isNegative, isOdd), k.neg(limited), limited);
  const isReal = k.or(k.not(isNegative), k.or(isInteger, k.or(isZero, isInfinite)));
  const isNumber = k.not(k.or(k.isNan(x), k.isNan(y)));
  const result = k.select(k.and(isReal, isNumber), signed, nan);
  return k.select(k.or(k.eq(y, 0), k.eq(x, 1)), one, result);
}

/** log2 of 2^exponent (1 + f). */
function log2Pair(k: FunctionBuilder, exponent: Value, f: Value): Pair {
  const square = k.mul(f, f);
  const squareRest = k.fma(f, f, k.neg(square));
  const half = k.mul(square, -0.5);
  const sum = k.add(f, half);
  const sumRest = k.add(k.sub(f, sum), half);
  const small = k.fma(squareRest, -0.5, k.fma(k.mul(f, square), log1pTail(k, f), sumRest));
  const ln = k.add(sum, small);
  const lnRest = k.sub(small, k.sub(ln, sum));
  const scaledLn = k.mul(ln, LOG2_E_HI);
  const scaledRest = k.add(k.fma(ln, LOG2_E_HI, k.neg(scaledLn)), k.fma(ln, LOG2_E_LO, k.mul(lnRest, LOG2_E_HI)));
  const hi = k.add(exponent, scaledLn);
  return { hi, lo: k.add(k.add(k.sub(exponent, hi), scaledLn), scaledRest) };
}

function product(k: FunctionBuilder, { hi, lo }: Pair, times: Value): Pair {
  const rounded = k.mul(hi, times);
  return { hi: rounded, lo: k.fma(lo, times, k.fma(hi, times, k.neg(rounded))) };
}

/** 2^(hi + lo); 0 or infinite where that is out of range. */
function exp2Pair(k: FunctionBuilder, { hi, lo }: Pair): Value {
  const limited = atMost(k, atLeast(k, hi, -152), 130);
  const rest = k.select(k.eq(limited, hi), lo, k.constant(lo.type, 0));
  const n = roundedProduct(k, limited, 1);
  const r = k.mul(k.add(k.sub(limited, n.float), rest), LN2);
  return scaled(k, { value: k.add(expm1Reduced(k, r), 1), power: n.integer });
}
