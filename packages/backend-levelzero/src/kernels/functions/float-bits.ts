import type { FunctionBuilder, Type, Value } from '@concord/spirv-builder';

/** Bits of 32-bit floats. */
export const SIGN = 0x8000_0000;
export const MANTISSA = 0x007f_ffff;
export const MANTISSA_BITS = 23;
export const EXPONENT_BIAS = 127;

/** The least normal number: smaller ones may be flushed to zero, by a device or by what it computes with them. */
export const LEAST_NORMAL: number = 2 ** -126;

/** u32, or as many of them as a vector has components: what 32-bit floats are the bits of. */
export function bitsType(k: FunctionBuilder, { type }: Value): Type {
  const u32 = k.types.int(32);
  return type.kind === 'vector' ? k.types.vector(u32, type.count) : u32;
}

/** The bits of 32-bit floats. */
export function bitsOf(k: FunctionBuilder, x: Value): Value {
  return k.bitcast(x, bitsType(k, x));
}

/** The smaller of x and a limit; NaN stays NaN, which OpenCL's fmin would drop. */
export function atMost(k: FunctionBuilder, x: Value, limit: number): Value {
  return k.select(k.gt(x, limit), k.constant(x.type, limit), x);
}

/** The larger of x and a limit; NaN stays NaN. */
export function atLeast(k: FunctionBuilder, x: Value, limit: number): Value {
  return k.select(k.lt(x, limit), k.constant(x.type, limit), x);
}

/** x with the sign of another value. For x without a sign. */
export function withSignOf(k: FunctionBuilder, x: Value, signed: Value): Value {
  return k.bitcast(k.or(bitsOf(k, x), k.and(bitsOf(k, signed), SIGN)), x.type);
}
