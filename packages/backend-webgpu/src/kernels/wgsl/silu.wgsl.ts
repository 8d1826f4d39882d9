/**
 * x times the logistic function of x; needs `floatBits`, `ln2` and `exp`. x / (1 + e^-x) for x >= 0 and x e^x / (1 + e^x)
 * below. There x e^x is still a normal number where e^x is not any more, so the power of two of e^x is multiplied in
 * last. At -infinity the limit, 0.
 */
export const silu: string = /* wgsl */ `
fn silu_bits(bits: u32) -> u32 {
  let negative = bits >= SIGN;
  let magnitude = min(bitcast<f32>(bits & MAGNITUDE), 100.0);
  let e = exp_scaled(-magnitude, 0.0);
  let numerator = select(magnitude, -magnitude * e.value, negative);
  let value = numerator / (1.0 + bitcast<f32>(scale_by_power(e.value, e.power)));
  let result = scale_by_power(value, select(0, e.power, negative));
  // From 32 on the logistic function is 1.
  return select(result, bits, is_nan(bits) | (!negative & (magnitude >= 32.0)));
}
`;
