/**
 * The quotient; needs `floatBits`. WGSL promises 2.5 ulp for divisors between 2^-126 and 2^126 only, and compilers may make a
 * product with a reciprocal of it, which for larger divisors is subnormal and flushed. So the significands are
 * divided, two numbers in [1, 2), and the exponents are put on by their bits. Whether the operands are finite is seen by
 * their bits too: WGSL need not know infinities and NaN. A subnormal operand counts as 0.
 */
export const divide: string = /* wgsl */ `
fn divide_bits(a: u32, b: u32) -> u32 {
  const FRACTION = 0x007fffffu;
  // 2^128 times a quotient of significands, which is more than 1/2, may be finite; 2^129 times it is not.
  const MAX_POWER = 0x40000000;
  let dividend = a & MAGNITUDE;
  let divisor = b & MAGNITUDE;
  let significand = bitcast<u32>(bitcast<f32>((a & FRACTION) | ONE) / bitcast<f32>((b & FRACTION) | ONE));
  let power = i32(dividend & INFINITY) - i32(divisor & INFINITY);
  let sum = i32(significand) + min(power, MAX_POWER);
  let quotient = select(0u, u32(min(sum, i32(INFINITY))), sum >= i32(MIN_NORMAL));
  let vanishes = (dividend < MIN_NORMAL) | (divisor == INFINITY);
  let grows = (divisor < MIN_NORMAL) | (dividend == INFINITY) | (power > MAX_POWER);
  let magnitude = select(select(quotient, 0u, vanishes), INFINITY, grows);
  let invalid = (vanishes & grows) | (dividend > INFINITY) | (divisor > INFINITY);
  return select(((a ^ b) & SIGN) | magnitude, NAN, invalid);
}
`;
