/**
 * The square root; needs `floatBits`. x = 4^h m with m in [1, 4): the root is 2^h sqrt(m). WGSL allows the built-in
 * `sqrt` the errors of an inverse root and a division together, 4.5 ulp, so one Newton step follows,
 * s + (m - s^2) / 2s, after which less than 1 ulp is left whatever the device's root, its division and its rounding of
 * s^2 were like. s is the leading 16 bits of that root: of the root itself a compiler may hold that its square is m, and
 * leave out the step. Zeros, infinity and NaN never reach the built-in's result.
 */
export const sqrt: string = /* wgsl */ `
fn sqrt_bits(bits: u32) -> u32 {
  let half = (i32(bits >> 23u) - 127) >> 1u;
  let m = bitcast<f32>(i32(bits) - (half << 24u));
  let s = bitcast<f32>(bitcast<u32>(sqrt(m)) & 0xffffff00u);
  let root = s + (m - s * s) / (s + s);
  let value = u32(bitcast<i32>(root) + (half << 23u));
  // Above the bits of infinity are the NaNs and everything with a sign.
  let finite_or_not = select(select(value, INFINITY, bits == INFINITY), NAN, bits > INFINITY);
  return select(finite_or_not, bits & SIGN, (bits & MAGNITUDE) < MIN_NORMAL);
}
`;
