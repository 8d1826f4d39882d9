/**
 * The exponential; needs `floatBits` and `ln2`. With k the integer nearest to x / ln 2 and r = x - k ln 2, so |r| <= ln(2) / 2:
 * e^x = 2^k e^r (Cody and Waite, Software Manual for the Elementary Functions, chapter 6). ln 2 is split in two, the
 * first part short enough that its product with k is exact, so r is right to the last bit also without fma.
 *
 * e^r - 1 = r + r^2 q(r), where q is a minimax polynomial of degree 5 for the relative error of e^r - 1 on
 * |r| <= 0.3468, fitted by linear programming at 1,500 Chebyshev points; the coefficients were rounded to float32 one
 * after the other, from the lowest, and the others fitted anew. Its error is 4.4e-10, 0.004 ulp.
 *
 * `exp_scaled` leaves 2^k apart: products with it then neither underflow nor overflow half-way. Its argument comes in two
 * parts, for squares and products that are known to more than 24 bits.
 */
export const exp: string = /* wgsl */ `
struct Scaled {
  value: f32,
  power: i32,
}

// e^r - 1 for |r| <= ln(2) / 2.
fn expm1_reduced(r: f32) -> f32 {
  let q = 0.5 + r * (0.16666666 + r * (0.041666493 + r * (0.008333546 + r * (0.0013932325 + r * 0.00019761805))));
  return r + r * r * q;
}

// e^(hi + lo) as value * 2^power, with value between 0.7 and 1.42. For |hi| <= 256 and lo small beside it.
fn exp_scaled(hi: f32, lo: f32) -> Scaled {
  let k = round((hi + lo) * LOG2_E);
  // In this order: Mesa's compiler regroups (hi - a) + (lo - b), and then the exact difference is lost.
  let r = ((hi - k * LN2_HI) - k * LN2_LO) + lo;
  return Scaled(1.0 + expm1_reduced(r), i32(k));
}

fn exp_bits(bits: u32) -> u32 {
  // Outside of these limits the result is 0 or infinite.
  let e = exp_scaled(clamp(bitcast<f32>(bits), -88.0, 89.0), 0.0);
  return select(scale_by_power(e.value, e.power), NAN, is_nan(bits));
}
`;
