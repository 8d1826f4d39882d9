/**
 * WGSL: `half_bits(value: f32, zero: u32) -> u32` rounds to binary16, to nearest even. From 65520 on the result is infinite,
 * subnormals are kept, NaN stays NaN.
 *
 * By bits, because the built-in ways are not to be relied on: `pack2x16float` of a number that is too large is
 * indeterminate, and how it and `f16()` round is up to the implementation. The other direction, `unpack2x16float`, is
 * exact.
 *
 * `zero` is 0 and no constant: `u.zero` (see `softmax.wgsl.ts`), as the number was computed, or `varyingZero`.
 */
export const halfBits: string = /* wgsl */ `fn half_bits(value: f32, zero: u32) -> u32 {
  let bits = zero ^ bitcast<u32>(value);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return sign | 0x7e00u; }
  if (magnitude >= 0x477ff000u) { return sign | 0x7c00u; }
  if (magnitude >= 0x38800000u) {
    // Half a unit, less 1 when the unit is even; the bias of the exponent falls from 127 to 15.
    return sign | ((magnitude + 0xfffu + ((magnitude >> 13u) & 1u) - 0x38000000u) >> 13u);
  }
  if (magnitude <= 0x33000000u) { return sign; }
  // Subnormal: a number of units of 2^-24.
  let drop = 126u - (magnitude >> 23u);
  let mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  let units = mantissa >> drop;
  let rest = mantissa & ((1u << drop) - 1u);
  let middle = 1u << (drop - 1u);
  let up = rest > middle || (rest == middle && (units & 1u) == 1u);
  return sign | (units + select(0u, 1u, up));
}`;

/**
 * WGSL: `half_bits_of_four(value: vec4f, zero: u32) -> vec4u`, the same of four numbers: at once if all are normal in binary16, or 0, as
 * they mostly are.
 */
export const halfBitsOfFour: string = /* wgsl */ `${halfBits}
fn half_bits_of_four(value: vec4f, zero: u32) -> vec4u {
  let bits = vec4u(zero) ^ bitcast<vec4u>(value);
  let magnitude = bits & vec4u(0x7fffffffu);
  let is_zero = magnitude == vec4u();
  if (all((magnitude - 0x38800000u < vec4u(0x477ff000u - 0x38800000u)) | is_zero)) {
    let sign = (bits >> vec4u(16u)) & vec4u(0x8000u);
    let is_odd = (magnitude >> vec4u(13u)) & vec4u(1u);
    return sign | select((magnitude + 0xfffu + is_odd - 0x38000000u) >> vec4u(13u), vec4u(), is_zero);
  }
  return vec4u(
    half_bits(value.x, zero), half_bits(value.y, zero), half_bits(value.z, zero), half_bits(value.w, zero),
  );
}`;

/**
 * WGSL: `half_bits` under a name, for a device that packs halves as they should be. With `zero`, as a compiler may take
 * `unpack2x16float(pack2x16float(x))` for x.
 */
export const packedBits = (name: string): string => /* wgsl */ `fn ${name}(value: f32, zero: u32) -> u32 {
  return (zero ^ pack2x16float(vec2f(value, 0.0))) & 0xffffu;
}`;
const packedBitsOfFour = /* wgsl */ `${packedBits('half_bits')}
fn half_bits_of_four(value: vec4f, zero: u32) -> vec4u {
  let low = zero ^ pack2x16float(value.xy);
  let high = zero ^ pack2x16float(value.zw);
  return vec4u(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
}`;

/**
 * Returns the code of a kernel for a device that packs halves as they should be, as a trial has shown: rounding takes it a tenth of
 * the instructions.
 */
export function withPackedHalves(code: string): string {
  return code.replace(halfBitsOfFour, packedBitsOfFour).replace(halfBits, packedBits('half_bits'));
}

/**
 * WGSL: a 0 that differs between lanes as far as a compiler knows.
 *
 * For values that may be computed from uniforms alone. Lavapipe (Mesa 22.3) follows the condition of every branch back to
 * the uniforms that it comes from, a value that is used twice twice: a chain of a few functions of a parameter takes it
 * longer than anybody waits. It gives up where it meets what is no uniform.
 *
 * @param varying - a u32 of the lane or of its point
 */
export function varyingZero(varying: string): string {
  return `min(${varying}, u.zero)`;
}

/**
 * WGSL: `bfloat_bits(value: f32) -> u32` and `bfloat_bits_of_four` round to bfloat16, to nearest even. Subnormals are
 * kept, NaN stays NaN. With `u.zero` of every kernel (see `softmax.wgsl.ts`): the number was computed.
 */
export const bfloatBits: string = /* wgsl */ `
fn bfloat_bits(value: f32) -> u32 {
  let bits = bitcast<u32>(value) ^ u.zero;
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}
fn bfloat_bits_of_four(value: vec4f) -> vec4u {
  let bits = bitcast<vec4u>(value) ^ vec4u(u.zero);
  let rounded = (bits + 0x7fffu + ((bits >> vec4u(16u)) & vec4u(1u))) >> vec4u(16u);
  let quiet = (bits >> vec4u(16u)) | vec4u(0x40u);
  return select(rounded, quiet, (bits & vec4u(0x7fffffffu)) > vec4u(0x7f800000u));
}
`;
