/**
 * The larger and the smaller of two values, exactly, and NaN when either is one, where the built-ins drop NaN; needs
 * `floatBits`. `order` maps bits to integers in the order of the values: those with a sign are turned around, so -0 comes
 * right below +0.
 */
export const order: string = /* wgsl */ `
fn order(bits: u32) -> i32 {
  let value = bitcast<i32>(bits);
  return value ^ ((value >> 31u) & 0x7fffffff);
}

fn max_bits(a: u32, b: u32) -> u32 {
  return select(select(b, a, order(a) > order(b)), NAN, is_nan(a) | is_nan(b));
}

fn min_bits(a: u32, b: u32) -> u32 {
  return select(select(b, a, order(a) < order(b)), NAN, is_nan(a) | is_nan(b));
}
`;
