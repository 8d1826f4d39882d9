import { ofType } from '@concord/variants';
import type { UniformType } from '../kernel.ts';

/**
 * Float32 values as their bits. Results that arithmetic must not be trusted with are made and recognised here: WGSL lets
 * an implementation assume that there are no NaN and no infinities, so that `v != v` may be false for NaN, and it has no
 * constant for either. Integers are safe: functions that care take and give `u32`, and kernels load and store `u32`.
 *
 * With the sign off, bits are ordered as the values are: zeros and subnormals below `MIN_NORMAL`, then the normal
 * numbers, `INFINITY`, and the NaNs above it.
 *
 * Of a number that was computed the bits are no help by themselves: a compiler that knows where they come from may conclude
 * that they cannot be those of a NaN. `bits ^ u.zero`, with the uniform that is always 0, hides it.
 *
 * Conditions are joined with `&` and `|`, which evaluate both sides. `&&` and `||` are branches, and a few dozen of them
 * inside a loop keep SwiftShader compiling for minutes.
 */
const floatBits: string = /* wgsl */ `
const SIGN = 0x80000000u;
const MAGNITUDE = 0x7fffffffu;
const MIN_NORMAL = 0x00800000u;
const INFINITY = 0x7f800000u;
const NAN = 0x7fc00000u;

fn is_nan(bits: u32) -> bool { return (bits & MAGNITUDE) > INFINITY; }

// Bits of value * 2^k: 0 where that is below 2^-126, infinity where it overflows. For a normal value
// below 2^(129 - k), so that the exponents' sum fits, and for smaller ones if k <= 0.
fn scale_by_power(value: f32, k: i32) -> u32 {
  let bits = bitcast<u32>(value);
  let scaled = i32(bits & MAGNITUDE) + (k << 23u);
  let magnitude = select(0u, u32(min(scaled, i32(INFINITY))), scaled >= i32(MIN_NORMAL));
  return (bits & SIGN) | magnitude;
}
`;

/**
 * The reciprocal of ln 2, and ln 2 as the sum of two numbers, of which the first has 9 bits: its product with an exponent
 * is exact (Cody and Waite, Software Manual for the Elementary Functions; these two are the parts used there).
 */
const ln2: string = /* wgsl */ `
const LN2_HI = 0.693359375;
const LN2_LO = -2.12194440e-4;
const LOG2_E = 1.44269504;
`;

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
const exp: string = /* wgsl */ `
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

/**
 * The part of an attention that one launch computes, as kernels see it: some heads, or some queries of one head, and
 * all or some of their keys. Starts and distances are in elements.
 *
 * A launch for all keys of its queries writes rows of O. One for some of the keys (a *partial* one) writes records, which
 * `combine` merges: per row the sums of weighted values, then the largest score and the sum of the weights.
 */
export const attentionUniforms: Readonly<Record<string, UniformType>> = {
  ...ofType('u32', 'heads queries keys head_dim'),
  /** The same, of calls in this form. */
  value_dim: 'u32',
  /** Number of the first query, and of the first key, in its head. */
  ...ofType('u32', 'first_query first_key'),
  /** 1: query i sees key j when j <= i. */
  causal: 'u32',
  scale: 'f32',
  /** Starts of the operands in their bindings. */
  ...ofType('u32', 'q_at k_at v_at'),
  /** Distance from the keys, and values, of a head to those of the next. */
  ...ofType('u32', 'kv_head o_at'),
  /** Distance from a row, or record, of the output to the next. */
  o_row: 'u32',
};

/**
 * The online softmax: sums of exponentials relative to the largest score so far, scaled down when a larger one turns up
 * (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
 *
 * The largest score starts at the lowest finite number. So scores of -Infinity never meet -Infinity - -Infinity; where
 * there are no others, the weights and their sum are 0.
 */
export const weightFunctions: string = /* wgsl */ `
${floatBits}
${ln2}
${exp}
const LOWEST = -0x1.fffffep+127f;

fn exponential(x: f32) -> f32 { return bitcast<f32>(exp_bits(bitcast<u32>(x) ^ u.zero)); }

// A NaN never is the larger: it shows in its exponential. max might drop the number beside it.
fn larger(a: f32, b: f32) -> f32 { return select(a, b, b > a); }
`;

/** WGSL: {@link weightFunctions} and the end of the softmax of calls in which each query sees a key. */
export const softmaxFunctions: string = /* wgsl */ `${weightFunctions}
// The end of the softmax. Without any weight it is NaN.
fn quotient(sum: f32, total: f32) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(sum / total), NAN, total == 0.0));
}
`;

/** The number of keys that a query of the window sees; for kernels with {@link attentionUniforms}. */
export const maskFunction: string = /* wgsl */ `
// How many of the window's keys are visible to one of its queries.
fn visible_keys(query: u32) -> u32 {
  let seen = u.first_query + query + 1u;
  return select(u.keys, min(u.keys, max(seen, u.first_key) - u.first_key), u.causal != 0u);
}
`;
