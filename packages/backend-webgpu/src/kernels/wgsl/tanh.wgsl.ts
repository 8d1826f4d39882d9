/**
 * The hyperbolic tangent; needs `floatBits`, `ln2` and `exp`. With d = e^(2|x|) - 1: tanh |x| = d / (d + 2), in one formula for
 * all x and without a branch. d is put together from the reduced exponential, d = 2^k (e^r - 1) + (2^k - 1), so nothing
 * cancels near 0. Below 2^-12 the result is x to the last bit, from 10 on it is 1.
 */
export const tanh: string = /* wgsl */ `
fn tanh_bits(bits: u32) -> u32 {
  const TINY = 0x39800000u;
  let magnitude = bits & MAGNITUDE;
  let x = 2.0 * min(bitcast<f32>(magnitude), 10.0);
  let k = round(x * LOG2_E);
  let p = expm1_reduced((x - k * LN2_HI) - k * LN2_LO);
  let power = bitcast<f32>((u32(i32(k)) + 127u) << 23u);
  // With k = 0 the sum is p, and must stay p for a compiler that would factor out the power.
  let d = select(power * p + (power - 1.0), p, k == 0.0);
  let value = min(d / (d + 2.0), 1.0);
  return select(bitcast<u32>(value) | (bits & SIGN), bits, (magnitude < TINY) | (magnitude > INFINITY));
}
`;
