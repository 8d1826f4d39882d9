/**
 * The quotient; needs `floatBits`. WGSL promises 2.5 ulp for divisors up to 2^126 only, because the reciprocal of a larger
 * one is subnormal and may be flushed; those are brought down together with the dividend. A dividend that becomes
 * subnormal by that has a quotient of 0 anyway.
 */
export const divide: string = /* wgsl */ `
fn divide_bits(a: u32, b: u32) -> u32 {
  const LARGE = 0x7e000000u;
  let scale = select(1.0, 0.25, (b & MAGNITUDE) >= LARGE);
  return bitcast<u32>((bitcast<f32>(a) * scale) / (bitcast<f32>(b) * scale));
}
`;
