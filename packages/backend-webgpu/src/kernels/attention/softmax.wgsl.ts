import type { UniformType } from '../kernel.ts';
import { exp } from '../wgsl/exp.wgsl.ts';
import { floatBits } from '../wgsl/float-bits.wgsl.ts';
import { ln2 } from '../wgsl/ln2.wgsl.ts';

/**
 * The part of an attention that one launch computes, as kernels see it: some heads, or some queries of one head, and
 * all or some of their keys. Starts and distances are in elements.
 *
 * A launch for all keys of its queries writes rows of O. One for some of the keys (a *partial* one) writes records, which
 * `combine` merges: per row the sums of weighted values, then the largest score and the sum of the weights.
 */
export const attentionUniforms: Readonly<Record<string, UniformType>> = {
  heads: 'u32',
  queries: 'u32',
  keys: 'u32',
  head_dim: 'u32',
  /** Number of the first query, and of the first key, in its head. */
  first_query: 'u32',
  first_key: 'u32',
  /** 1: query i sees key j when j <= i. */
  causal: 'u32',
  scale: 'f32',
  /** Where the operands begin in their bindings. */
  q_at: 'u32',
  k_at: 'u32',
  v_at: 'u32',
  /** From the keys, and values, of a head to those of the next. */
  kv_head: 'u32',
  o_at: 'u32',
  /** From a row, or record, of the output to the next. */
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
