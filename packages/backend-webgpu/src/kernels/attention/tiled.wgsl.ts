import { shapeOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { byFours } from './flash-parts.ts';
import {
  attentionFunctions,
  attentionInterface,
  elementAt,
  type Form,
  formName,
  headOf,
  rowOf,
  sightArgument,
  sightOfHead,
  SPLIT_KEYS,
  totalOf,
  widthOf,
} from './form.wgsl.ts';
import type { DeviceTraits } from '../recorder.ts';
import {
  type AttentionTable,
  columnsOf,
  ENOUGH_WORKGROUPS,
  formsOf,
  groupsOf,
  rowsOfFloats,
  withSplits,
} from './table.ts';

/** The parameters that distinguish the `tiled` kernels. */
interface TiledParams {
  /** Queries of a workgroup; a multiple of 4. */
  readonly queries: number;
  /** Largest head dimension, a multiple of 64: the columns of O that a workgroup keeps. */
  readonly headDim: number;
  /** `f16` only where records are written. */
  readonly form: Form;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Keys of a tile. */
const TILE_KEYS = 64;

/** Invocations that share the rows of a tile: each has 4 of the keys, and 4 of every 64 columns of O. */
const ACROSS = 16;

/** Invocations in a workgroup. */
const tiledLanes = ({ queries }: Pick<TiledParams, 'queries'>): number => (ACROSS * queries) / 4;

/** Lengths of the arrays in workgroup memory, in vectors of 4. */
function layout({ queries, headDim }: Pick<TiledParams, 'queries' | 'headDim'>) {
  // Columns of Q and K, and rows of V, that are in workgroup memory at a time.
  const depth = queries === 32 ? 8 : 16;
  const valueRows = (queries === 32 ? 1024 : 2048) / headDim;
  // One vector more than needed keeps neighbouring rows in different banks.
  const queryPitch = queries / 4 + 1;
  const keyPitch = TILE_KEYS / 4 + 1;
  return {
    depth,
    valueRows,
    queryPitch,
    keyPitch,
    stage: Math.max(depth * (queryPitch + keyPitch), (valueRows * headDim) / 4),
    weights: TILE_KEYS * queryPitch,
    rows: (ACROSS * queries) / 4,
  };
}

/** Bytes of workgroup memory. */
export function tiledWorkgroupBytes(params: Pick<TiledParams, 'queries' | 'headDim'>): number {
  const { stage, weights, rows } = layout(params);
  return 16 * (stage + weights + rows);
}

/**
 * softmax(scale * Q K^T) V for a block of queries of one head per workgroup, which walks along the keys in tiles of
 * {@link TILE_KEYS} and never stores a score outside of the chip: FlashAttention (Dao, Fu, Ermon, Rudra, Ré, 2022,
 * algorithm 1, with the loop over the queries outside as in FlashAttention-2). Causal attention stops at the last tile
 * that a query of the block sees.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`, as far as the window reaches. Workgroups are
 * numbered by head, block of queries, and split of the keys, the last running fastest; with `partial`, split s of row r
 * writes record `s * heads * queries + r`.
 *
 * Per tile: scores, 4 queries x 4 keys an invocation, from pieces of Q and K that pass through workgroup memory `depth`
 * columns at a time; the largest score of each row, exchanged in workgroup memory; the weights, to workgroup memory; and
 * the products with V, 4 queries x a quarter of 16 of every 64 columns an invocation, from rows of V that pass through
 * the same memory. Vectors of 4 keys (columns of V and O) hold every 16th key (every quarter of the columns), so that
 * neighbouring invocations read and write neighbouring addresses; vectors of 4 queries hold neighbours.
 */
const tiled: (params: TiledParams) => Kernel = variants((params: TiledParams) => {
  const { queries, headDim, form, partial } = params;
  const isPlain = form === 'plain';
  const s = sightArgument(form);
  const load = (name: 'q' | 'k' | 'v', rows: string): string => {
    const at = `select(0u, first + row * ${rowOf(form, name)} + d, is_there)`;
    return `fn load_${name}(first: u32, row: u32, d: u32) -> f32 {
  let is_there = (row < u.${rows}) & (d < ${widthOf(name)});
  return select(0.0, ${elementAt(form, name, at)}, is_there);
}`;
  };
  const isSeen = (keys: string, i: number): string =>
    isPlain
      ? `${keys} < vec4u(visible[${i}])`
      : `(${keys} >= vec4u(first_seen[${i}])) & (${keys} < vec4u(visible[${i}]))`;
  const score = (i: number): string =>
    isPlain ? `u.scale * score${i}` : `finish_scores(u.scale * score${i}, mask_row(head, query + ${i}u), keys)`;
  const { depth, valueRows, queryPitch, keyPitch, stage, weights, rows } = layout(params);
  const lanes = tiledLanes(params);
  const down = queries / 4;
  const columnVectors = headDim / 4;
  // Vectors of O in each row that an invocation has.
  const vectors = columnVectors / ACROSS;

  // Rows of O have separate places, records are packed.
  const isOwn = !isPlain && !partial;
  const products = (term: (i: number, vector: number) => string): string => `
        let weight = weight_tile[(first + row) * ${queryPitch}u + lane_row];
${repeat(vectors, (j) => `        let v${j} = stage[row * ${columnVectors}u + lane_column + ${j * ACROSS}u];`)}
${repeat(4, (i) => repeat(vectors, (j) => `        o${i}_${j} += ${term(i, j)};`))}`;

  return defineKernel({
    name: `attention/tiled ${queries}x${TILE_KEYS}x${headDim}${formName(form, partial)}`,
    ...attentionInterface(form, false),
    code: /* wgsl */ `
${attentionFunctions(form)}

// Columns of Q, and after them of K; or rows of V.
var<workgroup> stage: array<vec4f, ${stage}>;
// [key][query]
var<workgroup> weight_tile: array<vec4f, ${weights}>;
// [column of invocations][query]: numbers on their way across a row.
var<workgroup> row_values: array<vec4f, ${rows}>;

${load('q', 'queries')}

${load('k', 'keys')}

${load('v', 'keys')}

fn exponentials(x: vec4f) -> vec4f {
  return vec4f(exponential(x.x), exponential(x.y), exponential(x.z), exponential(x.w));
}

fn largest_of(x: vec4f) -> f32 { return larger(larger(x.x, x.y), larger(x.z, x.w)); }
${isPlain ? '' : byFours}
${mainOf(lanes)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let split = number % u.splits;
  let blocks = (u.queries + ${queries - 1}u) / ${queries}u;
  let first_query = number / u.splits % blocks * ${queries}u;
  let head = number / u.splits / blocks;
  let q_head = ${headOf(form, 'q')};
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}

  let lane_row = lane / ${ACROSS}u;
  let lane_column = lane % ${ACROSS}u;
  let query = first_query + lane_row * 4u;
  let visible = vec4u(
    visible_keys(${s}query),
    visible_keys(${s}query + 1u),
    visible_keys(${s}query + 2u),
    visible_keys(${s}query + 3u),
  );
  let seen_by_all = visible_keys(${s}first_query);
  let seen_by_any = visible_keys(${s}min(first_query + ${queries}u, u.queries) - 1u);
${
  isPlain
    ? `  let begin = split * u.split_keys;
  let end = min(begin + u.split_keys, seen_by_any);`
    : `  let first_seen = first_to_four(sight, query);
  let hidden_from_some = first_visible(sight, min(first_query + ${queries}u, u.queries) - 1u);
${SPLIT_KEYS}
  let begin = max(split * split_keys, first_visible(sight, first_query) / ${TILE_KEYS}u * ${TILE_KEYS}u);
  let end = min((split + 1u) * split_keys, seen_by_any);`
}

  // Of rows query .. query + 3, one component each.
  var largest = vec4f(LOWEST);
  // Only over the keys of this invocation, until the end.
  var total = vec4f();
${repeat(4, (i) => repeat(vectors, (j) => `  var o${i}_${j} = vec4f();`))}

  for (var tile = begin; tile < end; tile += ${TILE_KEYS}u) {
${repeat(4, (i) => `    var score${i} = vec4f();`)}
    for (var column = 0u; column < u.head_dim; column += ${depth}u) {
      workgroupBarrier();
      for (var i = lane; i < ${depth * down}u; i += ${lanes}u) {
        let d = column + i % ${depth}u;
        let row = first_query + i / ${depth}u * 4u;
        stage[i % ${depth}u * ${queryPitch}u + i / ${depth}u] = vec4f(
          load_q(q_head, row, d),
          load_q(q_head, row + 1u, d),
          load_q(q_head, row + 2u, d),
          load_q(q_head, row + 3u, d),
        );
      }
      for (var i = lane; i < ${depth * ACROSS}u; i += ${lanes}u) {
        let d = column + i % ${depth}u;
        let row = tile + i / ${depth}u;
        stage[${depth * queryPitch}u + i % ${depth}u * ${keyPitch}u + i / ${depth}u] = vec4f(
          load_k(k_head, row, d),
          load_k(k_head, row + ${ACROSS}u, d),
          load_k(k_head, row + ${2 * ACROSS}u, d),
          load_k(k_head, row + ${3 * ACROSS}u, d),
        );
      }
      workgroupBarrier();
      for (var d = 0u; d < ${depth}u; d++) {
        let a = stage[d * ${queryPitch}u + lane_row];
        let b = stage[${depth * queryPitch}u + d * ${keyPitch}u + lane_column];
${repeat(4, (i) => `        score${i} += a[${i}] * b;`)}
      }
    }

    let keys = tile + lane_column + vec4u(0u, ${ACROSS}u, ${2 * ACROSS}u, ${3 * ACROSS}u);
${repeat(4, (i) => `    score${i} = select(vec4f(LOWEST), ${score(i)}, ${isSeen('keys', i)});`)}
    row_values[lane_column * ${down}u + lane_row] =
      vec4f(${[0, 1, 2, 3].map((i) => `largest_of(score${i})`).join(', ')});
    workgroupBarrier();
    var now = largest;
    for (var i = 0u; i < ${ACROSS}u; i++) {
      let other = row_values[i * ${down}u + lane_row];
      now = select(now, other, other > now);
    }
    let factor = exponentials(largest - now);
    largest = now;
    total *= factor;
${repeat(
  4,
  (i) => `    let weight${i} = select(vec4f(), exponentials(score${i} - now[${i}]), ${isSeen('keys', i)});
    total[${i}] += (weight${i}.x + weight${i}.y) + (weight${i}.z + weight${i}.w);
${repeat(vectors, (j) => `    o${i}_${j} *= factor[${i}];`)}`,
)}
${repeat(
  4,
  (j) => `    weight_tile[(lane_column + ${j * ACROSS}u) * ${queryPitch}u + lane_row] =
      vec4f(${[0, 1, 2, 3].map((i) => `weight${i}[${j}]`).join(', ')});`,
)}

    for (var first = 0u; first < ${TILE_KEYS}u && tile + first < end; first += ${valueRows}u) {
      workgroupBarrier();
      for (var i = lane; i < ${valueRows * columnVectors}u; i += ${lanes}u) {
        let row = tile + first + i / ${columnVectors}u;
        let d = i % ${columnVectors}u;
        stage[i] = vec4f(
          load_v(v_head, row, d),
          load_v(v_head, row, d + ${columnVectors}u),
          load_v(v_head, row, d + ${2 * columnVectors}u),
          load_v(v_head, row, d + ${3 * columnVectors}u),
        );
      }
      workgroupBarrier();
      if (${isPlain ? `tile + first + ${valueRows}u <= seen_by_all` : `(tile + first >= hidden_from_some) & (tile + first + ${valueRows}u <= seen_by_all)`}) {
        for (var row = 0u; row < ${valueRows}u; row++) {${products((i, j) => `weight[${i}] * v${j}`)}
        }
      } else {
        // A hidden value may be infinite or NaN, and then a weight of 0 does not hide it.
        for (var row = 0u; row < ${valueRows}u; row++) {
          let is_visible = ${isPlain ? 'vec4u(tile + first + row) < visible' : '(vec4u(tile + first + row) >= first_seen) & (vec4u(tile + first + row) < visible)'};${products(
            (i, j) => `select(vec4f(), weight[${i}] * v${j}, is_visible[${i}])`,
          )}
        }
      }
    }
  }

  workgroupBarrier();
  row_values[lane_column * ${down}u + lane_row] = total;
  workgroupBarrier();
  total = vec4f();
  for (var i = 0u; i < ${ACROSS}u; i++) { total += row_values[i * ${down}u + lane_row]; }

  let row_at = (split * u.heads + head) * u.queries + query;
${repeat(
  4,
  (i) => `  if (query + ${i}u < u.queries) {
    let at = ${isOwn ? `o_start(head) + (query + ${i}u) * u.o_row` : `u.o_at + (row_at + ${i}u) * u.o_row`};${isOwn ? `\n    let last${i} = ${totalOf(form, `total[${i}]`, `query + ${i}u`)};` : ''}
${repeat(vectors, (j) =>
  repeat(
    4,
    (part) => `    {
      let d = lane_column + ${j * ACROSS + part * columnVectors}u;
      if (d < u.value_dim) { o[at + d] = ${partial ? `o${i}_${j}[${part}]` : `quotient(o${i}_${j}[${part}], ${isOwn ? `last${i}` : `total[${i}]`})`}; }
    }`,
  ),
)}${
    partial
      ? `
    if (lane_column == 0u) {
      o[at + u.value_dim] = largest[${i}];
      o[at + u.value_dim + 1u] = total[${i}];
    }`
      : ''
  }
  }`,
)}
}`,
  });
});

type Tile = Pick<TiledParams, 'queries' | 'headDim'>;

/** Blocks of queries, smallest first, and columns of O that can be kept. */
export const TILED_QUERIES = [16, 32, 64] as const;
export const TILED_COLUMNS = [64, 128, 256] as const;

const TILE_OF: ReadonlyMap<string, Tile> = new Map(
  TILED_QUERIES.flatMap((queries) =>
    TILED_COLUMNS.map((headDim) => [tiledId({ queries, headDim }), { queries, headDim }] as const),
  ),
);

/** Attention by blocks of queries and tiles of keys, of any size: for GPUs. */
export const tiledTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    formsOf(rowsOfFloats).flatMap((way) =>
      queriesOn(traits).flatMap((queries) => TILED_COLUMNS.map((headDim) => tiled({ queries, headDim, ...way }))),
    ),
  candidates: (sizes, traits) => {
    const blocks = queriesOn(traits);
    const best = bestOf(blocks, sizes.heads, sizes.queries);
    if (best === undefined) return undefined;
    const headDim = TILED_COLUMNS.find((max) => max >= columnsOf(sizes)) ?? 256;
    const variantOf = (queries: Tile['queries']) => withSplits(tiledId({ queries, headDim }), queries, sizes);
    return { variants: blocks.map(variantOf), preferred: variantOf(best) };
  },
  splitKeys: () => TILE_KEYS,
  writesRows: rowsOfFloats,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const kernel = tiled({ ...tile, form: work.sizes.form, partial: work.partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** Large blocks read K and V less often; small ones waste less and make more workgroups. */
function bestOf(smallestFirst: readonly number[], heads: number, queries: number): number | undefined {
  const isWorthwhile = (block: number): boolean => heads * Math.ceil(queries / block) >= ENOUGH_WORKGROUPS;
  const min = smallestFirst.findIndex((block) => block >= Math.min(queries, 32));
  return (
    smallestFirst
      .slice(min + 1)
      .filter(isWorthwhile)
      .at(-1) ?? smallestFirst.at(min)
  );
}

/** The blocks of queries that a device has invocations and memory for. */
function queriesOn({ isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly number[] {
  if (isSoftware) return [];
  return TILED_QUERIES.filter(
    (queries) =>
      tiledLanes({ queries }) <= maxInvocations &&
      TILED_COLUMNS.every((headDim) => tiledWorkgroupBytes({ queries, headDim }) <= maxWorkgroupBytes),
  );
}

/** Id of a tile. */
export function tiledId({ queries, headDim }: Tile): string {
  return `attention/tiled-${queries}x${headDim}`;
}
