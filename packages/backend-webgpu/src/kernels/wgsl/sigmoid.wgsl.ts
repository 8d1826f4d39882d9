/**
 * The logistic function; needs `floatBits`, `ln2` and `exp`. 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) below: the
 * exponential of -|x| alone, which never overflows, and a denominator between 1 and 2.
 */
export const sigmoid: string = /* wgsl */ `
fn sigmoid_bits(bits: u32) -> u32 {
  let e = exp_scaled(-min(bitcast<f32>(bits & MAGNITUDE), 100.0), 0.0);
  let decay = bitcast<f32>(scale_by_power(e.value, e.power));
  let value = select(1.0, decay, bits >= SIGN) / (1.0 + decay);
  return select(bitcast<u32>(value), NAN, is_nan(bits));
}
`;
