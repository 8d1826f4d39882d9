import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import type { DecodeParams } from './decode.wgsl.ts';
import { isWideOutput, quotients, readFunctions, storeFour } from './flash-parts.ts';
import {
  attentionFunctions,
  attentionInterface,
  formName,
  headOf,
  outputType,
  sightOfHead,
  SPLIT_KEYS,
  totalOf,
} from './form.wgsl.ts';

/** Invocations in a workgroup. */
const LANES = 256;
/** Invocations that read a row of K together. */
const TEAM = 4;
/** Keys of a tile: a team reads one. */
const KEYS = LANES / TEAM;

/** Rows of V that a workgroup reads at a time. */
const acrossOf = (columns: number): number => LANES / (columns / 4);

/** Bytes of workgroup memory. */
export const decodeRowBytes = (columns: number): number => 4 * (2 * LANES + 4 * LANES + 3 * acrossOf(columns));

/**
 * softmax(scale * Q K^T) V for queries that share their keys with no other, as in the decoding of a token: a workgroup has
 * one row of O and a split of its keys. Nearly all of its time it waits, so what it reads is asked for at once, and
 * invocations wait for each other as seldom as can be.
 *
 * Workgroups are a grid of splits of the keys and rows of O. With `partial`, split s of row r writes record `s * heads * queries + r`.
 *
 * Per tile: {@link TEAM} invocations read a row of K, each every fourth vector, and leave their parts of the product in workgroup
 * memory. Then each invocation has one vector of four columns and its share of the rows of V, with an online softmax over
 * those keys alone. The shares meet at the end, as the records of splits do.
 */
export const decodeRow: (params: DecodeParams) => Kernel = variants((params: DecodeParams) => {
  const { columns, form, fit, partial } = params;
  const vectors = columns / 4;
  const across = acrossOf(columns);
  const slots = KEYS / across;
  const chunks = vectors / TEAM;

  return defineKernel({
    name: `attention/decode-row ${columns} ${fit}${formName(form, partial)}`,
    ...attentionInterface(form, fit !== 'any', outputType(form, isWideOutput(params))),
    code: /* wgsl */ `
${attentionFunctions(form)}
${readFunctions(fit, form)}
${quotients}

// Parts of products, for every other tile: [key][member of a team].
var<workgroup> products: array<f32, ${2 * LANES}>;
// Sums of weighted values: [row of V][four columns].
var<workgroup> sums: array<vec4f, ${LANES}>;
// Of the invocations of a row of V: the largest score, and the sum of the weights.
var<workgroup> row_largest: array<f32, ${across}>;
var<workgroup> row_total: array<f32, ${across}>;

@compute @workgroup_size(${LANES})
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let split = id.x;
  let row = id.y;
  let head = parts_of(row, u.queries);
  let query = row - head * u.queries;
  let q_head = ${headOf(form, 'q')};
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}${SPLIT_KEYS}
  let mask_at = mask_row(head, query);

  let begin = max(split * split_keys, first_visible(sight, query));
  let end = min((split + 1u) * split_keys, visible_keys(sight, query));
  let member = lane % ${TEAM}u;
  let four = lane % ${vectors}u;
  let value_row = lane / ${vectors}u;
${repeat(chunks, (c) => `  let q${c} = read_q(q_head, query, member + ${c * TEAM}u);`)}
  var largest = LOWEST;
  var total = 0.0;
  var sum = vec4f();
  var half = 0u;
  // Beyond the last key it is read again, and not used; where there is none, another.
  let end_key = max(end, 1u) - 1u;
${repeat(chunks, (c) => `  var k${c} = raw_k(k_head, min(begin + lane / ${TEAM}u, end_key), member + ${c * TEAM}u);`)}
${repeat(slots, (i) => `  var next${i} = raw_v(v_head, min(begin + value_row + ${i * across}u, end_key), four);`)}

  for (var tile = begin; tile < end; tile += ${KEYS}u) {
    var part = q0 * numbers_k(k0);
${repeat(chunks - 1, (c) => `    part = fma(q${c + 1}, numbers_k(k${c + 1}), part);`)}
    products[half + lane] = (part.x + part.y) + (part.z + part.w);
${repeat(slots, (i) => `    let raw${i} = next${i};`)}
    let following = tile + ${KEYS}u;
    if (following < end) {
${repeat(chunks, (c) => `      k${c} = raw_k(k_head, min(following + lane / ${TEAM}u, end_key), member + ${c * TEAM}u);`)}
${repeat(slots, (i) => `      next${i} = raw_v(v_head, min(following + value_row + ${i * across}u, end_key), four);`)}
    }
    workgroupBarrier();
${repeat(
  slots,
  (i) => `    let at${i} = half + (value_row + ${i * across}u) * ${TEAM}u;
    let product${i} = (products[at${i}] + products[at${i} + 1u]) + (products[at${i} + 2u] + products[at${i} + 3u]);
    let key${i} = tile + value_row + ${i * across}u;
    let is_seen${i} = key${i} < end;
    var score${i} = u.scale * product${i};`,
)}
    if (is_set(u.capped, tile)) {
${repeat(slots, (i) => `      score${i} = capped_score(score${i});`)}
    }
    if (is_set(u.masked, tile)) {
${repeat(slots, (i) => `      score${i} += mask_of(mask_at, key${i});`)}
    }
    var now = largest;
${repeat(slots, (i) => `    now = select(now, larger(now, score${i}), is_seen${i});`)}
    if (tile != begin) {
      let factor = exponential(largest - now);
      total *= factor;
      sum *= factor;
    }
    largest = now;
${repeat(
  slots,
  (i) => `    let weight${i} = select(0.0, exponential(score${i} - now), is_seen${i});
    total += weight${i};
    sum += select(vec4f(), weight${i} * numbers_v(raw${i}), is_seen${i});`,
)}
    half = ${LANES}u - half;
  }

  if (four == 0u) { row_largest[value_row] = largest; }
  workgroupBarrier();
  var most = LOWEST;
${repeat(across, (i) => `  most = larger(most, row_largest[${i}]);`)}
  let factor = exponential(largest - most);
  sums[lane] = sum * factor;
  if (four == 0u) { row_total[value_row] = total * factor; }
  workgroupBarrier();
  if (lane >= ${vectors}u) { return; }
  var value = vec4f();
  var weights = 0.0;
${repeat(
  across,
  (i) => `  value += sums[lane + ${i * vectors}u];
  weights += row_total[${i}];`,
)}
  let at = ${partial ? 'u.o_at + (split * u.heads * u.queries + row) * u.o_row' : 'o_start(head) + query * u.o_row'};
${partial ? '' : `  let last = ${totalOf(form, 'weights', 'query')};`}
  if (4u * lane < u.value_dim) {
${storeFour(params, { value: 'value', four: 'lane', total: 'last' })}
  }
${
  partial
    ? `  if (lane == 0u) {
    o[at + u.value_dim] = most;
    o[at + u.value_dim + 1u] = weights;
  }`
    : ''
}
}`,
  });
});
