/**
 * x^y; needs `floatBits`, `ln2`, `exp` and `log`. |x|^y = 2^(y log2 |x|). The exponential multiplies the relative error of
 * its argument by up to 88, so log2 |x| is worked out to about 29 bits: from log(1 + f) = f - f^2/2 + f^3 p(f), times
 * log2 e, plus the exponent, and last times y. After each step the value is a leading part of 12 bits and a rest; products
 * of leading parts are exact (Dekker, A floating-point technique for extending the available precision, Numerische
 * Mathematik 18, 1971). Leading parts are cut off by the bits and not by adding and subtracting, which a compiler may
 * simplify away (Mesa's does); were a rest lost all the same, the result would still be within the documented bound.
 *
 * Special values as C99 Annex F says, all by the bits. A subnormal x or y counts as 0.
 */
export const pow: string = /* wgsl */ `
struct Pair {
  hi: f32,
  lo: f32,
}

// log2 of a positive normal number; hi has 12 bits.
fn log2_pair(bits: u32) -> Pair {
  const LOG2_E_HI = 1.4423828125;
  const LOG2_E_LO = 3.12228389e-4;
  let x = log_reduce(bits);
  let f = x.f;
  let f_hi = leading_bits(f);
  let square = 0.5 * f_hi * f_hi;
  let ln = leading_bits(f - square);
  let ln_rest = ((f - ln) - square) - 0.5 * (f - f_hi) * (f + f_hi) + f * f * f * log1p_tail(f);
  let product = ln * LOG2_E_HI;
  let hi = leading_bits(x.exponent + product);
  let lo = ((x.exponent - hi) + product) + (ln * LOG2_E_LO + ln_rest * LOG2_E);
  return Pair(hi, lo);
}

fn pow_bits(x: u32, y: u32) -> u32 {
  let base = x & MAGNITUDE;
  let exponent = y & MAGNITUDE;
  // Beyond 2^32 the result is 0, 1 or infinite, and every exponent an even number.
  let times = clamp(bitcast<f32>(y), -4294967296.0, 4294967296.0);
  let times_hi = leading_bits(times);
  let log2 = log2_pair(base);
  let product = times_hi * log2.hi;
  let product_rest = times * log2.lo + (times - times_hi) * log2.hi;
  let k = round(clamp(product + product_rest, -150.0, 128.0));
  let r = clamp((product - k) + product_rest, -0.75, 0.75);
  let finite = scale_by_power(1.0 + expm1_reduced(r * LN2), i32(k));

  let negative = x >= SIGN;
  let is_integer = floor(times) == times;
  let is_odd = is_integer & (floor(0.5 * times) * 2.0 != times);
  let is_limit = (base < MIN_NORMAL) | (base == INFINITY) | ((exponent == INFINITY) & (base != ONE));
  let grows = (base > ONE) == (y < SIGN);
  let magnitude = select(finite, select(0u, INFINITY, grows), is_limit);
  let signed = magnitude | select(0u, SIGN, negative & is_odd);
  let is_invalid = negative & !is_integer & (base >= MIN_NORMAL) & (base < INFINITY);
  let real = select(signed, NAN, is_invalid | (base > INFINITY) | (exponent > INFINITY));
  return select(real, ONE, (exponent < MIN_NORMAL) | (x == ONE));
}
`;
