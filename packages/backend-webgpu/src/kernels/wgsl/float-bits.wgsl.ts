/**
 * Float32 values as their bits. Results that arithmetic must not be trusted with are made and recognised here: WGSL lets
 * an implementation assume that there are no NaN and no infinities, so that `v != v` may be false for NaN, and it has no
 * constant for either. Integers are safe: functions that care take and give `u32`, and kernels load and store `u32`.
 *
 * With the sign off, bits are ordered as the values are: zeros and subnormals below `MIN_NORMAL`, then the normal
 * numbers, `INFINITY`, and the NaNs above it.
 *
 * Of a number that was computed the bits are no help by themselves: a compiler that knows where they come from may conclude
 * that they cannot be those of a NaN. `bits ^ u.zero`, with the uniform that is always 0, hides it.
 *
 * Conditions are joined with `&` and `|`, which evaluate both sides. `&&` and `||` are branches, and a few dozen of them
 * inside a loop keep SwiftShader compiling for minutes.
 */
export const floatBits: string = /* wgsl */ `
const SIGN = 0x80000000u;
const MAGNITUDE = 0x7fffffffu;
const MIN_NORMAL = 0x00800000u;
const INFINITY = 0x7f800000u;
const NAN = 0x7fc00000u;

fn is_nan(bits: u32) -> bool { return (bits & MAGNITUDE) > INFINITY; }

// Bits of value * 2^k: 0 where that is below 2^-126, infinity where it overflows. For a normal value
// below 2^(129 - k), so that the exponents' sum fits, and for smaller ones if k <= 0.
fn scale_by_power(value: f32, k: i32) -> u32 {
  let bits = bitcast<u32>(value);
  let scaled = i32(bits & MAGNITUDE) + (k << 23u);
  let magnitude = select(0u, u32(min(scaled, i32(INFINITY))), scaled >= i32(MIN_NORMAL));
  return (bits & SIGN) | magnitude;
}
`;
