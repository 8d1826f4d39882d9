/**
 * IEEE 754 binary16 as bit patterns in a Uint16Array, for hosts without Float16Array.
 *
 * Layout: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits. Smallest subnormal 2^-24, largest finite 65504.
 */

/** The bits of NaN that conversions give. */
const F16_NAN = 0x7e00;
const F16_INFINITY = 0x7c00;

/**
 * The binary16 nearest to `x`, ties to even, in one rounding from the double. |x| >= 65520 gives infinity, NaN gives
 * 0x7e00, subnormals and the sign of zero are kept.
 */
export function f32ToF16Bits(x: number): number {
  if (Number.isNaN(x)) return F16_NAN;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(x);
  if (magnitude >= 65520) return sign | F16_INFINITY;
  // Below 2^-14 the spacing of binary16 is 2^-24, above it is 2^(exponent - 10).
  const exponent = magnitude < 2 ** -14 ? -14 : exponentOf(magnitude);
  const spacing = 2 ** (exponent - 10);
  // Adding 2^52 leaves a double no room for a fraction, so that the hardware rounds to an integer, ties to even.
  const units = magnitude / spacing + 2 ** 52 - 2 ** 52;
  // `units` is the fraction, with the implicit bit of a normal number on top: as the exponent field of a normal number
  // is exponent + 15 and that bit adds one, it is added to exponent + 14. A carry lands in the exponent by itself.
  return sign | ((exponent + 14) * 1024 + units);
}

const FLOAT = new Float32Array(1);
const FLOAT_BITS = new Uint32Array(FLOAT.buffer);

/** floor(log2 x) for x in [2^-14, 65520). */
function exponentOf(x: number): number {
  FLOAT[0] = x;
  const exponent = ((FLOAT_BITS[0] as number) >>> 23) - 127;
  // Rounding to float32 may have carried into the next power of two.
  return 2 ** exponent > x ? exponent - 1 : exponent;
}

/** The value of a binary16. Exact. */
export function f16BitsToF32(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Every value rounded to binary16. */
export function toF16Array(values: ArrayLike<number>): Uint16Array {
  const bits = new Uint16Array(values.length);
  for (let i = 0; i < bits.length; i++) bits[i] = f32ToF16Bits(values[i] as number);
  return bits;
}

/** Every binary16 as a float32. */
export function fromF16Array(bits: Uint16Array): Float32Array {
  const values = new Float32Array(bits.length);
  for (let i = 0; i < values.length; i++) values[i] = f16BitsToF32(bits[i] as number);
  return values;
}
