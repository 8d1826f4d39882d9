import { f32x4, i32x4 } from '../../encoder/index.ts';
import type { Vector, WasmArithmetic } from './wasm-arithmetic.ts';

const bits = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0] as number;

/** Below it e^x is 0, above the other infinite; both with room to spare, and 2^n of either in two normal factors. */
const LEAST = -104;
const MOST = 89;
const LOG2_E = Math.LOG2E;
/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
/** Adding it rounds to an integer, which is then in the lower bits. */
const ROUNDER = 1.5 * 2 ** 23;
/** (e^r - 1 - r) / r^2, the highest power first: Moshier's Cephes, `expf`. */
const P = [1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1];

/**
 * e^x of any float32, NaN and infinities too: with n the integer nearest to x / ln 2, e^x = 2^n e^r. The power of two is
 * multiplied in two steps, both exact but for a last rounding where the result is subnormal. Largest error found: 1 ulp.
 */
export function exp(a: WasmArithmetic, x: Vector): Vector {
  const f = (value: number): Vector => a.constant('f32', bits(value));
  const u = (value: number): Vector => a.constant('u32', value >>> 0);
  // In this order a NaN stays.
  const limited = a.keep(f32x4.pmin(f32x4.pmax(x, f(LEAST)), f(MOST)));
  const shifted = a.add('f32', a.mul('f32', limited, f(LOG2_E)), f(ROUNDER));
  const n = a.sub('f32', shifted, f(ROUNDER));
  const rest = a.sub('f32', limited, a.mul('f32', n, f(LN2_HI)));
  const r = a.sub('f32', rest, a.mul('f32', n, f(LN2_LO)));
  const p = P.slice(1).reduce((sum, c) => a.add('f32', a.mul('f32', sum, r), f(c)), f(P[0] as number));
  const power = a.add('f32', a.add('f32', a.mul('f32', p, a.mul('f32', r, r)), r), f(1));
  const exponent = a.keep(i32x4.sub(shifted, u(bits(ROUNDER))));
  const half = a.keep(i32x4.shrS(exponent, 1));
  const factor = (part: Vector): Vector => a.keep(i32x4.shl(i32x4.add(part, u(127)), 23));
  const scaled = a.mul('f32', power, factor(half));
  return a.mul('f32', scaled, factor(a.sub('i32', exponent, half)));
}
