import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { type Fit, isWideOutput, quotients, readFunctions, storeFour } from './flash-parts.ts';
import {
  attentionFunctions,
  attentionInterface,
  type Form,
  formName,
  headOf,
  outputType,
  sightOfHead,
  SPLIT_KEYS,
  totalOf,
} from './form.wgsl.ts';

/** The parameters that distinguish the `decode` and `decode-row` kernels. */
export interface DecodeParams {
  /** Largest head dimension. */
  readonly columns: 64 | 128 | 256;
  readonly form: Exclude<Form, 'plain'>;
  readonly fit: Fit;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Rows of O that share their keys, at a time: queries of all heads of a group. */
const ROWS = 4;
/** Invocations in a workgroup. */
export const DECODE_LANES = 256;
/** Invocations that read a row of K together; each then has the scores of one row of O. */
const TEAM = ROWS;
/** Rows of K that are read at a time. */
const TEAMS = DECODE_LANES / TEAM;
/** Rows of V of an invocation that are on their way at once. */
const SLOTS = 8;
/** Keys whose weights are in workgroup memory at a time. */
const CHUNK = 512;
/** Keys of a chunk whose weights, for one row of O, are an invocation's. */
const OWN = CHUNK / TEAMS;
/** Groups of four teams, by which the largest score of a row, or a sum, is found. */
const GROUPS = TEAMS / 4;
/** Rows of O whose sums meet at a time. */
const MEETING = 2;
/** Weights from those of a row to those of the next: in other banks. */
const WEIGHT_STEP = CHUNK + 8;

/** What follows from the largest head dimension. */
function sizesOf(columns: number) {
  // Rows of K of an invocation at a time: they make up for reading Q from workgroup memory.
  const keys = Math.min(2, 256 / columns);
  const tile = keys * TEAMS;
  // Vectors from the parts of one member of a team to those of the next: in other banks.
  const partStep = tile + 2;
  return { keys, tile, partStep, parts: Math.max(TEAM * partStep, MEETING * DECODE_LANES) };
}

/** Bytes of workgroup memory. */
export const decodeBytes = (columns: number): number =>
  4 * (4 * sizesOf(columns).parts + ROWS * (columns + WEIGHT_STEP + GROUPS + 2) + DECODE_LANES);

/**
 * softmax(scale * Q K^T) V for few queries: some of each head, or the heads of a group that share their keys. They read all of K
 * and V and compute little. The keys may be split over the device.
 *
 * Workgroups form a grid: splits of the keys, blocks of rows, heads of K. Row x of a head of K is query `x % queries` of its
 * head `x / queries` of Q. With `partial`, split s of row r writes record `s * heads * queries + r`.
 *
 * For each chunk of keys:
 * 1. A team reads rows of K, each member every fourth vector, and multiplies them with all rows of Q. The parts of a product
 *    meet in workgroup memory and become scores.
 * 2. Scores become weights. Each is computed once.
 * 3. An invocation adds weighted values of one vector of four columns, for its share of the keys. At the end the shares are
 *    added up.
 *
 * K and V are asked for before they are needed, and become numbers only where they are used: a conversion would wait.
 */
export const decode: (params: DecodeParams) => Kernel = variants((params: DecodeParams) => {
  const { columns, form, fit, partial } = params;
  const { keys, tile, partStep, parts } = sizesOf(columns);
  const vectors = columns / 4;
  const chunks = vectors / TEAM;
  // Rows of V that are read at a time, and those that are on their way.
  const across = DECODE_LANES / vectors;
  const block = SLOTS * across;
  const readK = (prefix: string, first: string): string =>
    repeat(keys, (m) =>
      repeat(
        chunks,
        (c) =>
          `${prefix}k${m}_${c} = raw_k(k_head, min(${first} + place + ${m * TEAMS}u, end_key), member + ${c * TEAM}u);`,
      ),
    );
  const readV = (prefix: string, first: string): string =>
    repeat(SLOTS, (i) => `${prefix}v${i} = raw_v(v_head, min(${first} + value_row + ${i * across}u, end_key), four);`);

  /** WGSL: parts of the products of the rows with the keys of an invocation. */
  const products = [
    repeat(keys, (m) => repeat(ROWS, (r) => `      var part${r}_${m} = 0.0;`)),
    repeat(chunks, (c) =>
      [
        '      {',
        repeat(keys, (m) => `        let key${m} = numbers_k(k${m}_${c});`),
        repeat(ROWS, (r) =>
          [
            `        let q_${r} = q_tile[${r * vectors + c * TEAM}u + member];`,
            repeat(keys, (m) => `        part${r}_${m} = with_products(part${r}_${m}, q_${r}, key${m});`),
          ].join('\n'),
        ),
        '      }',
      ].join('\n'),
    ),
    repeat(keys, (m) => {
      const all = Array.from({ length: ROWS }, (_, r) => `part${r}_${m}`).join(', ');
      return `      parts[member * ${partStep}u + place + ${m * TEAMS}u] = vec4f(${all});`;
    }),
  ].join('\n');
  const part = (member: number): string => `parts[at + ${member * partStep}u][row]`;
  /** WGSL: the scores of some keys of the tile for a row. */
  const scores = repeat(
    keys,
    (m) => `      {
        let at = place + ${m * TEAMS}u;
        let key = tile + at;
        let product = (${part(0)} + ${part(1)}) + (${part(2)} + ${part(3)});
        var score = LOWEST;
        if ((key >= first_seen) & (key < visible)) { score = finish_score(u.scale * product, mask_at, key); }
        weights[row * ${WEIGHT_STEP}u + key - chunk] = score;
      }`,
  );
  /** WGSL: adds the values of a chunk. */
  const values = (add: (sum: string, weight: string) => string): string => `
      for (var first = 0u; first < count; first += ${block}u) {
${repeat(
  SLOTS,
  (i) => `        {
          let slot = first + value_row + ${i * across}u;
          let value = select(vec4f(), numbers_v(v${i}), slot < count);
${repeat(ROWS, (r) => `          let weight${r} = weights[${r * WEIGHT_STEP}u + slot];`)}
${repeat(ROWS, (r) => `          o${r} = ${add(`o${r}`, `weight${r}`)};`)}
        }`,
)}
        let following = chunk + first + ${block}u;
        if (following < end) {
${readV('          ', 'following')}
        }
      }`;
  /** WGSL: adds up the sums of some rows, and stores them. */
  const rowsFrom = (m: number): string => `${m === 0 ? '' : '  workgroupBarrier();'}
${repeat(MEETING, (r) => `  parts[${r * DECODE_LANES}u + lane] = o${m * MEETING + r};`)}
  workgroupBarrier();
  if (value_row < ${MEETING}u) {
    let row = value_row + ${m * MEETING}u;
    var value = vec4f();
${repeat(across, (i) => `    value += parts[value_row * ${DECODE_LANES}u + four + ${i * vectors}u];`)}
    if (block * ${ROWS}u + row < u.group * u.queries) {
      let x = row_number(block, row);
      let of_group = parts_of(x, u.queries);
      let query = x - of_group * u.queries;
      let head = first_head + of_group;
      let at = ${partial ? 'u.o_at + ((split * u.heads + head) * u.queries + query) * u.o_row' : 'o_start(head) + query * u.o_row'};
${partial ? '' : `      let last = ${totalOf(form, 'total_of(row)', 'query')};`}
      if (4u * four < u.value_dim) {
${storeFour(params, { value: 'value', four: 'four', total: 'last' })}
      }
${
  partial
    ? `      if (four == 0u) {
        o[at + u.value_dim] = row_largest[row];
        o[at + u.value_dim + 1u] = total_of(row);
      }`
    : ''
}
    }
  }`;

  return defineKernel({
    name: `attention/decode ${columns} ${fit}${formName(form, partial)}`,
    ...attentionInterface(form, fit !== 'any', outputType(form, isWideOutput(params))),
    code: /* wgsl */ `
${attentionFunctions(form)}
${readFunctions(fit, form)}
${quotients}

// Parts of products of the rows: [member of a team][key]; at the end sums: [row][invocation].
var<workgroup> parts: array<vec4f, ${parts}>;
var<workgroup> q_tile: array<vec4f, ${ROWS * vectors}>;
// [row][key of the chunk]: scores, then weights.
var<workgroup> weights: array<f32, ${ROWS * WEIGHT_STEP}>;
// Of each row's invocations and groups of them: the largest score, at the end the sum of weights.
var<workgroup> lane_values: array<f32, ${DECODE_LANES}>;
var<workgroup> group_values: array<f32, ${ROWS * GROUPS}>;
// Of each row: what its sums are scaled by, and its largest score.
var<workgroup> factors: array<f32, ${ROWS}>;
var<workgroup> row_largest: array<f32, ${ROWS}>;

// The weight of a key that a row does not see: a weight of 0 does not hide a value that is infinite or NaN.
const HIDDEN = -1.0;

fn row_number(block: u32, row: u32) -> u32 { return min(block * ${ROWS}u + row, u.group * u.queries - 1u); }

fn with_products(sum: f32, a: vec4f, b: vec4f) -> f32 {
  return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum))));
}

fn sum_of(four: vec4f) -> f32 { return (four.x + four.y) + (four.z + four.w); }
fn larger_of_four(a: vec4f, b: vec4f) -> vec4f { return select(a, b, b > a); }
fn largest_of(four: vec4f) -> f32 { return larger(larger(four.x, four.y), larger(four.z, four.w)); }

fn four_lanes(at: u32) -> vec4f {
  return vec4f(lane_values[at], lane_values[at + ${GROUPS}u], lane_values[at + ${2 * GROUPS}u], lane_values[at + ${3 * GROUPS}u]);
}
fn four_groups(at: u32) -> vec4f {
  return vec4f(group_values[at], group_values[at + 1u], group_values[at + 2u], group_values[at + 3u]);
}

fn largest_of_row(row: u32) -> f32 {
  let at = row * ${GROUPS}u;
  let some = larger_of_four(four_groups(at), four_groups(at + 4u));
  return largest_of(larger_of_four(some, larger_of_four(four_groups(at + 8u), four_groups(at + 12u))));
}
fn total_of(row: u32) -> f32 {
  let at = row * ${GROUPS}u;
  return sum_of((four_groups(at) + four_groups(at + 4u)) + (four_groups(at + 8u) + four_groups(at + 12u)));
}

@compute @workgroup_size(${DECODE_LANES})
fn main(@builtin(workgroup_id) id: vec3u, @builtin(local_invocation_index) lane: u32) {
  let split = id.x;
  let block = id.y;
  let first_head = id.z * u.group;
  let head = first_head;
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}${SPLIT_KEYS}
  let begin = max(split * split_keys, first_visible(sight, 0u));
  let end = min((split + 1u) * split_keys, visible_keys(sight, u.queries - 1u));
  let seen_by_all = visible_keys(sight, 0u);
  let hidden_from_some = first_visible(sight, u.queries - 1u);

  let member = lane % ${TEAM}u;
  let place = lane / ${TEAM}u;
  let four = lane % ${vectors}u;
  let value_row = lane / ${vectors}u;
  // Beyond the last key it is read again, and not used; where there is none, another.
  let end_key = max(end, 1u) - 1u;
${readK('  var ', 'begin')}
${readV('  var ', 'begin')}
  // The row whose scores and weights are this invocation's: of keys that are as many apart as there are teams.
  let row = member;
  let x = row_number(block, row);
  let of_group = parts_of(x, u.queries);
  let query = x - of_group * u.queries;
  var mask_at = 0u;
  if (is_set(u.masked, lane)) { mask_at = mask_row(first_head + of_group, query); }
  let first_seen = first_visible(sight, query);
  let visible = min(visible_keys(sight, query), end);
  for (var i = lane; i < ${ROWS * vectors}u; i += ${DECODE_LANES}u) {
    let x = row_number(block, i / ${vectors}u);
    let head = parts_of(x, u.queries);
    q_tile[i] = read_q(q_start(first_head + head), x - head * u.queries, i % ${vectors}u);
  }
  var largest = LOWEST;
  var total = 0.0;
${repeat(ROWS, (r) => `  var o${r} = vec4f();`)}
  workgroupBarrier();

  for (var chunk = begin; chunk < end; chunk += ${CHUNK}u) {
    let chunk_end = min(chunk + ${CHUNK}u, end);
    for (var tile = chunk; tile < chunk_end; tile += ${tile}u) {
${products}
      let following = tile + ${tile}u;
      if (following < end) {
${readK('        ', 'following')}
      }
      workgroupBarrier();
${scores}
      workgroupBarrier();
    }

    let count = chunk_end - chunk;
${repeat(OWN, (n) => `    let score${n} = weights[row * ${WEIGHT_STEP}u + min(place + ${n * TEAMS}u, count - 1u)];`)}
    // A NaN is larger than nothing.
    var now = LOWEST;
${repeat(OWN, (n) => `    now = larger(now, score${n});`)}
    lane_values[row * ${TEAMS}u + place] = now;
    workgroupBarrier();
    if (place < ${GROUPS}u) {
      group_values[row * ${GROUPS}u + place] = largest_of(four_lanes(row * ${TEAMS}u + place));
    }
    workgroupBarrier();
    now = larger(largest, largest_of_row(row));
    let factor = exponential(largest - now);
    largest = now;
    total *= factor;
    // Are all keys of the chunk seen by all rows?
    let is_inner = (chunk >= hidden_from_some) & (chunk_end <= seen_by_all);
${repeat(
  OWN,
  (n) => `    {
      let key = chunk + place + ${n * TEAMS}u;
      let is_seen = (key >= first_seen) & (key < visible);
      var weight = 0.0;
      if (count > ${n * TEAMS}u) { weight = select(0.0, exponential(score${n} - now), is_seen); }
      total += weight;
      weights[row * ${WEIGHT_STEP}u + place + ${n * TEAMS}u] = select(HIDDEN, weight, is_seen | is_inner);
    }`,
)}
    if (place == 0u) { factors[row] = factor; }
    workgroupBarrier();

    if (chunk != begin) {
${repeat(ROWS, (r) => `      o${r} *= factors[${r}];`)}
    }
    if (is_inner) {${values((sum, weight) => `fma(vec4f(${weight}), value, ${sum})`)}
    } else {${values((sum, weight) => `${sum} + select(vec4f(), ${weight} * value, ${weight} != HIDDEN)`)}
    }
  }

  workgroupBarrier();
  lane_values[row * ${TEAMS}u + place] = total;
  if (place == 0u) { row_largest[row] = largest; }
  workgroupBarrier();
  if (place < ${GROUPS}u) {
    group_values[row * ${GROUPS}u + place] = sum_of(four_lanes(row * ${TEAMS}u + place));
  }
${repeat(ROWS / MEETING, rowsFrom)}
}`,
  });
});
