import { nanBits, toBf16 } from '@concord/kernel';
import { f32x4, i32x4, v128 } from '../../encoder/index.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

/** The smallest float32 that is a normal binary16. */
const LEAST_NORMAL = 0x3880_0000;

/**
 * The 16 bits of a binary16 as a float32; exact, NaN with its payload. In float32's place a number is 2^112 too small, and a
 * product with that makes subnormals normal; infinity and NaN then get their exponent.
 */
export function halfToFloat(a: WasmArithmetic, bits: Vector): Vector {
  const k = new VectorTerms(a);
  const magnitude = a.keep(v128.and(bits, k.u(0x7fff)));
  const finite = f32x4.mul(i32x4.shl(magnitude, 13), k.f(2 ** 112));
  const special = v128.and(i32x4.gtS(magnitude, k.u(0x7bff)), k.u(0x7f80_0000));
  return a.keep(v128.or(v128.or(finite, special), i32x4.shl(v128.and(bits, k.u(0x8000)), 16)));
}

/**
 * A float32 rounded to binary16, to nearest even: its 16 bits. A subnormal result is rounded by the addition of 1/2, whose last
 * place is 2^-24; any other by integers, which go beyond infinity where the result does.
 */
export function floatToHalf(a: WasmArithmetic, value: Vector): Vector {
  const k = new VectorTerms(a);
  const magnitude = a.keep(v128.and(value, k.u(0x7fff_ffff)));
  const subnormal = i32x4.sub(f32x4.add(magnitude, k.f(0.5)), k.f(0.5));
  const isOdd = v128.and(i32x4.shrU(magnitude, 13), k.u(1));
  // Minus the difference of the exponents' biases, plus half a unit without the lowest bit.
  const normal = i32x4.shrU(i32x4.add(i32x4.add(magnitude, k.u(0xfff - 0x3800_0000)), isOdd), 13);
  const finite = v128.bitselect(subnormal, normal, i32x4.ltS(magnitude, k.u(LEAST_NORMAL)));
  const sign = a.keep(v128.and(i32x4.shrU(value, 16), k.u(0x8000)));
  const half = a.keep(v128.or(i32x4.minU(finite, k.u(0x7c00)), sign));
  return a.rarely('u32', isNan(a, value), half, () => k.or(nanBits(k, magnitude, 13, 0x7c00, 0x200), sign));
}

/** A float32 rounded to bfloat16, to nearest even: its 16 bits. */
export function floatToBfloat(a: WasmArithmetic, value: Vector): Vector {
  const k = new VectorTerms(a);
  const isOdd = v128.and(i32x4.shrU(value, 16), k.u(1));
  const rounded = a.keep(i32x4.shrU(i32x4.add(i32x4.add(value, k.u(0x7fff)), isOdd), 16));
  return a.rarely('u32', isNan(a, value), rounded, () => toBf16(a, value));
}

function isNan(a: WasmArithmetic, value: Vector): Vector {
  return a.keep(f32x4.ne(value, value));
}
