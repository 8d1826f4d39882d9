/**
 * WGSL: `bfloat_bits(value: f32) -> u32` and `bfloat_bits_of_four` round to bfloat16, to nearest even. Subnormals are
 * kept, NaN stays NaN. With `u.zero` of every kernel (see `float-bits.wgsl.ts`): the number was computed.
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
