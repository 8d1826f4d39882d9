/**
 * The exact GELU; needs `floatBits`, `ln2`, `exp` and `erfc`. x Phi(x) = -|x| Q(|x|) for x < 0 and x (1 - Q(x)) for x >= 0, with
 * Q the upper tail of the normal distribution, at most 1/2, so that nothing cancels. Q is e^(-x^2/2) times a slow
 * function. The square is taken in two parts, an exact one and a small one, because the exponential multiplies its
 * rounding by x^2/2; and the power of two is multiplied in last, because x Q is still a normal number where Q is not any
 * more. At -infinity the limit, 0.
 */
export const gelu: string = /* wgsl */ `
fn gelu_bits(bits: u32) -> u32 {
  let negative = bits >= SIGN;
  let x = min(bitcast<f32>(bits & MAGNITUDE), 15.0);
  let x_hi = leading_bits(x);
  let e = exp_scaled(-0.5 * x_hi * x_hi, -0.5 * (x - x_hi) * (x + x_hi));
  let tail = normal_tail_scaled(x) * e.value;
  let upper = x * (1.0 - bitcast<f32>(scale_by_power(tail, e.power)));
  let value = select(upper, -x * tail, negative);
  let result = scale_by_power(value, select(0, e.power, negative));
  // From 8 on 1 - Q is 1.
  return select(result, bits, is_nan(bits) | (!negative & (x >= 8.0)));
}
`;
