/**
 * The upper tail of the normal distribution, Q(t) = erfc(t / sqrt 2) / 2, without its exponential:
 * `normal_tail_scaled(t)` = e^(t^2/2) Q(t) for t in [0, 15], a slowly falling function, 1/2 at 0 and about 0.4 / t far
 * out. Taking it and the exponential apart keeps the far tail as good as the rest, where 1 - erf has no digits left.
 *
 * With c = 1 / (t + 7/2) it is c p(t c): the variable maps t to [0, 0.81], as in Shepherd and Laframboise, Chebyshev
 * approximation of (1 + 2x) exp(x^2) erfc x, Mathematics of Computation 36 (1981). p is a minimax polynomial of degree
 * 9 for the relative error, fitted by linear programming at 700 Chebyshev points to values of 40 digits; the coefficients
 * were rounded to float32 one after the other, from the lowest, and the others fitted anew. Its error is 7.7e-9, 0.07
 * ulp.
 */
export const erfc: string = /* wgsl */ `
fn normal_tail_scaled(t: f32) -> f32 {
  let c = 1.0 / (t + 3.5);
  let v = t * c;
  let far = 0.17677017 + v * (0.17665102 + v * (0.017558064 + v * (-0.14862461 + v * 0.0570496)));
  return c * (1.75 + v * (-3.1370444 + v * (2.69472 + v * (-0.7110123 + v * (-0.47707924 + v * far)))));
}
`;
