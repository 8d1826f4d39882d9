/**
 * The natural logarithm; needs `floatBits` and `ln2`. With x = 2^e (1 + f) and 1 + f between sqrt(1/2) and sqrt(2):
 * log x = e ln 2 + log(1 + f), and log(1 + f) = f - f^2/2 + f^3 p(f). That f is exact makes x near 1 as good as any
 * other. The form is that of Moshier's Cephes
 * (`logf`).
 *
 * p is a minimax polynomial of degree 8 for the relative error of log(1 + f) on that range, fitted by linear programming
 * at 1,500 Chebyshev points; the coefficients were rounded to float32 one after the other, from the lowest, and the
 * others fitted anew. Its error is 7.7e-10, 0.007 ulp.
 */
export const log: string = /* wgsl */ `
struct Logarithm {
  exponent: f32,
  f: f32,
}

// x = 2^exponent (1 + f), from the bits of a positive normal number.
fn log_reduce(bits: u32) -> Logarithm {
  const SQRT_HALF = 0x3f3504f3;
  let above = i32(bits) - SQRT_HALF;
  let fraction = bitcast<f32>((above & 0x007fffff) + SQRT_HALF);
  return Logarithm(f32(above >> 23u), fraction - 1.0);
}

// (log(1 + f) - f + f^2/2) / f^3
fn log1p_tail(f: f32) -> f32 {
  let far = 0.14220354 + f * (-0.12406268 + f * (0.11883647 + f * (-0.11669924 + f * 0.06748783)));
  return 0.33333313 + f * (-0.2500001 + f * (0.20002072 + f * (-0.16667987 + f * far)));
}

fn log_bits(bits: u32) -> u32 {
  let x = log_reduce(bits);
  let square = x.f * x.f;
  let small = (x.f * square * log1p_tail(x.f) + x.exponent * LN2_LO) - 0.5 * square;
  let value = bitcast<u32>(x.exponent * LN2_HI + (x.f + small));
  // Above the bits of infinity are the NaNs and everything with a sign.
  let finite_or_not = select(select(value, INFINITY, bits == INFINITY), NAN, bits > INFINITY);
  return select(finite_or_not, SIGN | INFINITY, (bits & MAGNITUDE) < MIN_NORMAL);
}
`;
