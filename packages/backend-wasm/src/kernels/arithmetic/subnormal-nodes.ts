import { log as flushedLog, log2 as flushedLog2, pow as flushedPow } from '@concord/kernel';
import { f32x4, v128 } from '../../encoder/index.ts';
import { scaleByHalves } from './exp.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

// Functions that the kernel package has for devices that flush subnormal numbers, made right for those: here they are kept.

const LEAST_NORMAL = 2 ** -126;

/** (2^r - 1) / r: the coefficients of the kernel package's `exp2`. */
const EXP2 = [0.6931472, 0.2402265, 0.055503596, 0.009618062, 0.001339101, 0.00015463325];

/** Adding it rounds to an integer n; the lower bits have n + 254 then. */
const ROUNDER = 1.5 * 2 ** 23 + 254;

/** 2^x = 2^n 2^r, with n the integer nearest to x. Largest error found: 1.5 ulp; grant: 4. */
export function exp2(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const limited = k.atMost(k.atLeast(x, -151), 129);
  const shifted = k.plus(limited, ROUNDER);
  const r = k.sub(limited, k.sub(shifted, k.f(ROUNDER)));
  return scaleByHalves(k, k.plus(k.mul(r, k.powers(r, EXP2)), 1), shifted);
}

/** log(x) = log(2^24 x) - 24 log 2 for subnormal x. */
function logarithm(flushed: typeof flushedLog, unit: number): (a: WasmArithmetic, x: Vector) => Vector {
  return (a, x) => {
    const k = new VectorTerms(a);
    return a.rarely('f32', k.isSmall(x, LEAST_NORMAL), flushed(a, x), () =>
      k.plus(flushed(a, k.times(x, 2 ** 24)), -24 * unit),
    );
  };
}

/** Grant: 4 ulp. */
export const log: (a: WasmArithmetic, x: Vector) => Vector = logarithm(flushedLog, Math.LN2);
/** Grant: 6 ulp. */
export const log2: (a: WasmArithmetic, x: Vector) => Vector = logarithm(flushedLog2, 1);

/**
 * x^y. Where the result is below 2^-126, or x is, it is the square of |x|^(y / 2), which is not; and a subnormal x is
 * (2^24 x) 2^-24. A y below 2^-100 can be 2^50 times as large: the power is 1 either way, or only its sign matters. The
 * errors of both steps count less than the grant, 16 + 5|y log2|x|| + 3|y| ulp, has for such arguments.
 */
export function pow(a: WasmArithmetic, x: Vector, y: Vector): Vector {
  const k = new VectorTerms(a);
  const isTiny = k.isSmall(x, LEAST_NORMAL);
  const base = k.select(isTiny, k.times(x, 2 ** 24), x);
  const exponent = k.select(k.isSmall(y, 2 ** -100), k.times(y, 2 ** 50), y);
  const value = flushedPow(a, base, exponent);
  const isZero = k.isSmall(value, LEAST_NORMAL);
  return a.rarely('f32', a.or('bool', isTiny, isZero), value, () => {
    const half = k.times(exponent, 0.5);
    const lost = exp2(a, k.times(half, -24));
    const whole = flushedPow(a, a.abs('f32', base), half);
    const root = k.mul(whole, k.select(isTiny, lost, k.f(1)));
    const result = k.withSign(k.mul(root, root), value);
    const isNan = a.keep(f32x4.ne(value, value));
    return a.keep(v128.bitselect(value, result, isNan));
  });
}
