import { shapeOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { byFours, type Fit, fitOf, quotients } from './flash-parts.ts';
import {
  attentionFunctions,
  attentionInterface,
  headOf,
  outputType,
  rowOf,
  storedVector,
  sightOfHead,
  SPLIT_KEYS,
  totalOf,
  widthOf,
} from './form.wgsl.ts';
import type { DeviceTraits } from '../recorder.ts';
import { type AttentionTable, columnsOf, groupsOf, rowsByFours, withSplits } from './table.ts';

/** Shape of a workgroup's work on the matrix units. */
interface MatrixTile {
  /** Queries of a workgroup: one an invocation. */
  readonly queries: number;
  /** Keys that are in workgroup memory at a time: as many as one product takes. */
  readonly keys: 16;
  /** Largest head dimension, a multiple of 32. */
  readonly columns: number;
}

/** Invocations of a subgroup. */
const SUBGROUP = 32;
/** Rows, columns and terms of the product that is one operation. */
const UNIT = 16;

/**
 * Workgroup memory is made of blocks, as that of products is: 16 lines of four vectors and a free one, and four more, so that
 * neighbouring lines and blocks lie in different banks.
 */
const LINE = 5;
const BLOCK_VECTORS: number = UNIT * LINE + 4;
/** Blocks of a subgroup's own: the scores of its queries and 16 keys, or their weights, or 16 columns of their sums. */
const OWN_BLOCKS: number = SUBGROUP / UNIT;

/** Blocks of the keys of a tile, and as many of their values. */
const keyBlocks = ({ columns }: MatrixTile): number => columns / 32;

/** Blocks of workgroup memory: K, V, and those of the subgroups. */
const blocksOf = (tile: MatrixTile): number => 2 * keyBlocks(tile) + (tile.queries / SUBGROUP) * OWN_BLOCKS;

/** Bytes of workgroup memory. */
const matrixBytes = (tile: MatrixTile): number => 16 * BLOCK_VECTORS * blocksOf(tile) + 4 * (tile.queries / SUBGROUP);

/** The parameters that distinguish the kernels. */
interface MatrixParams {
  readonly tile: MatrixTile;
  readonly fit: Exclude<Fit, 'any'>;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/**
 * softmax(scale * Q K^T) V of f16 on matrix units, with sums in float32, as `flash` walks along the keys: a workgroup has a block of
 * queries of one head, a subgroup 32 of them, an invocation one. For rows of Q, K and V that begin and end at multiples of eight.
 *
 * Tile by tile, 16 keys, K and V go to workgroup memory; the next ones are read to registers meanwhile. The units multiply Q and K; the scores go
 * through the subgroup's blocks to the invocations of their queries, which make weights of them; those go back as two matrices, what
 * binary16 holds of them and what it lost, and are multiplied with V. Q and the sums stay in the units' registers. Only the
 * device knows which invocation holds what of a matrix, so sums are scaled through workgroup memory too: only when the
 * largest score has grown by more than SLACK, which is rare after the first tile.
 *
 * A subgroup's blocks go from hand to hand after barriers of the workgroup: WGSL has none for a subgroup, and a workgroup is small
 * for that reason. So subgroups also scale sums together, and all take the way of special tiles, when one has to.
 *
 * Weights lie between 2^-36 and 2^15, or lose digits. Where V has large values those would be seen, and infinite ones must not meet the
 * weight 0 of a hidden key: such a tile is summed by the invocations, in float32.
 */
const matrix: (params: MatrixParams) => Kernel = variants((params: MatrixParams) => {
  const { tile, fit, partial } = params;
  const { queries, keys, columns } = tile;
  const subgroups = queries / SUBGROUP;
  const terms = columns / UNIT;
  const halves = columns / 32;
  const blocks = keyBlocks(tile);
  const keysOf = (c: number): string => `(vec4u(first_key + ${4 * c}u) + vec4u(0u, 1u, 2u, 3u))`;
  const fetches = (keys * columns) / 8 / queries;
  const rows = (line: (r: number) => string): string => repeat(OWN_BLOCKS, line);
  const fours = (line: (c: number) => string): string => repeat(UNIT / 4, line);
  const own = (c: number | string): string => `blocks[area + row / ${UNIT}u][row % ${UNIT}u * ${LINE}u + ${c}u]`;

  // As if the place depended on what was read before: see `matrix-units.wgsl.ts`.
  const vector = (name: 'q' | 'k' | 'v', row: string, eight: string, before = '0u'): string => {
    const value = `${name}[(${name}_head + ${row} * ${rowOf('f16', name)}) / 8u + ${eight} + (${before} & u.zero)]`;
    return fit === 'full' ? value : `select(vec4u(), ${value}, 8u * (${eight}) < ${widthOf(name)})`;
  };
  const eachFetch = (line: (i: number, name: 'k' | 'v') => string): string =>
    (['k', 'v'] as const).map((name) => repeat(fetches, (i) => line(i, name))).join('\n');
  const fetch = (first: string): string =>
    eachFetch(
      (i, name) =>
        `    ${name}_next${i} = ${vector(name, `min(${first} + key_line${i}, u.keys - 1u)`, `eight${i}`, `${name}_next${i}.x`)};`,
    );
  const store = eachFetch(
    (i, name) => `    blocks[block${i} + ${name === 'k' ? 0 : blocks}u][place${i}] = ${name}_next${i};`,
  );
  const load = (kind: 'left' | 'right', major: 'row' | 'col', block: string, at: number): string =>
    `subgroupMatrixLoad<subgroup_matrix_${kind}<f16, ${UNIT}, ${UNIT}>, ${major}_major>(&blocks[${block}], ${at}u, ${LINE}u)`;
  const sumsOut = (d: number): string =>
    rows((r) => `      subgroupMatrixStore<row_major>(&blocks[area + ${r}u], 0u, o${r}_${d}, ${LINE}u);`);
  const sumsBack = (d: number): string =>
    rows(
      (r) =>
        `      o${r}_${d} = subgroupMatrixLoad<subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>, row_major>(&blocks[area + ${r}u], 0u, ${LINE}u);`,
    );

  const part = /* wgsl */ `
${rows((r) => `      var s${r} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`)}
${repeat(
  terms,
  (t) => `      {
        let b = ${load('right', 'col', `${Math.floor(t / 2)}u`, (t % 2) * 2)};
${rows((r) => `        s${r} = subgroupMatrixMultiplyAccumulate(q${r}_${t}, b, s${r});`)}
      }`,
)}
${rows((r) => `      subgroupMatrixStore<row_major>(&blocks[area + ${r}u], 0u, s${r}, ${LINE}u);`)}
      workgroupBarrier();
${fours((c) => `      var x${c} = bitcast<vec4f>(${own(c)}) * factor;`)}
      if (is_set(u.capped | u.masked, lane)) {
        let mask = mask_row(head, query);
${fours((c) => `        x${c} = finish_scores(x${c}, mask, ${keysOf(c)}) * LOG2_E;`)}
      }
      // A branch would become selections, which cost every tile.
      for (var edge = 0u; edge < edges; edge++) {
${fours((c) => `        x${c} = select(vec4f(LOWEST), x${c}, is_seen(${keysOf(c)}, visible));`)}
      }
      let top = max(max(largest_of(x0), largest_of(x1)), max(largest_of(x2), largest_of(x3)));
      let grows = subgroupAny(top > least + SHIFT + SLACK);
      if (row == 0u) { asked[subgroup] = select(0u, 1u, grows) | select(0u, 2u, is_special); }
      let asks = workgroupUniformLoad(&asked);
      let ask = ${Array.from({ length: subgroups }, (_, i) => `asks[${i}]`).join(' | ')};
      if ((ask & 1u) != 0u) {
        let now = max(least, top - SHIFT);
        let shrink = exp2(least - now);
        least = now;
        total *= shrink;
${repeat(
  terms,
  (d) => `${sumsOut(d)}
      workgroupBarrier();
${fours((c) => `      ${own(c)} = bitcast<vec4u>(bitcast<vec4f>(${own(c)}) * shrink);`)}
      workgroupBarrier();
${sumsBack(d)}
      workgroupBarrier();`,
)}
      }
${fours((c) => `      x${c} = exp2(x${c} - least);`)}
      total += sum_of(x0) + sum_of(x1) + (sum_of(x2) + sum_of(x3));
      if ((ask & 2u) != 0u) {
${fours((c) => `        let seen${c} = is_seen(${keysOf(c)}, visible);`)}
${repeat(
  terms,
  (d) => `${sumsOut(d)}
        workgroupBarrier();
        for (var c = 0u; c < 4u; c++) {
          var sum = bitcast<vec4f>(blocks[area + row / ${UNIT}u][row % ${UNIT}u * ${LINE}u + c]);
${repeat(UNIT, (j) => {
  const [x, w] = [Math.floor(j / 4), 'xyzw'[j % 4]];
  return `          sum += select(vec4f(), x${x}.${w} * four_of(${blocks + Math.floor(d / 2)}u, ${j * LINE + (d % 2) * 2}u, c), seen${x}.${w});`;
})}
          blocks[area + row / ${UNIT}u][row % ${UNIT}u * ${LINE}u + c] = bitcast<vec4u>(sum);
        }
        workgroupBarrier();
${sumsBack(d)}
        workgroupBarrier();`,
)}
      } else {
${fours(
  (c) => `        let h${c} = bitcast<vec4f>(bitcast<vec4u>(x${c}) & vec4u(0xffffe000u));
        let l${c} = x${c} - h${c};`,
)}
${repeat(4, (line) => {
  const name = line < 2 ? 'h' : 'l';
  const words = [0, 1].flatMap((i) =>
    ['xy', 'zw'].map((pair) => `pack2x16float(${name}${2 * (line % 2) + i}.${pair})`),
  );
  return `        ${own(line)} = vec4u(${words.join(', ')});`;
})}
        workgroupBarrier();
${rows(
  (r) => `        let high${r} = ${load('left', 'row', `area + ${r}u`, 0)};
        let low${r} = ${load('left', 'row', `area + ${r}u`, 2)};`,
)}
${repeat(
  terms,
  (d) => `        {
          let b = ${load('right', 'row', `${blocks + Math.floor(d / 2)}u`, (d % 2) * 2)};
${rows((r) => `          o${r}_${d} = subgroupMatrixMultiplyAccumulate(high${r}, b, o${r}_${d});`)}
${rows((r) => `          o${r}_${d} = subgroupMatrixMultiplyAccumulate(low${r}, b, o${r}_${d});`)}
        }`,
)}
      }
      workgroupBarrier();`;

  return defineKernel({
    name: `attention/matrix ${queries}x${keys}x${columns} ${fit}${partial ? ' partial' : ''}`,
    ...attentionInterface('f16', 'array<vec4u>', outputType('f16', !partial)),
    features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
    // Blocks are the same throughout a subgroup, but made of the number of the invocation, of which WGSL does not know that.
    silenced: ['chromium.subgroup_matrix_uniformity'],
    code: /* wgsl */ `
${attentionFunctions('f16')}
${quotients}
${byFours}

var<workgroup> blocks: array<array<vec4u, ${BLOCK_VECTORS}>, ${blocksOf(tile)}>;
// What a subgroup asks all for: to scale sums (1), to take a tile with values that binary16 weights are not good enough for (2).
var<workgroup> asked: array<u32, ${subgroups}>;

const ABOVE_LOWEST = -0x1.fffffcp+127f;
// Weights are up to 2^15 for the sake of their halves; sums are taken to a new scale where the largest score grew by more than SLACK.
const SHIFT = 11f;
const SLACK = 4f;

fn largest_of(x: vec4f) -> f32 { return max(max(x.x, x.y), max(x.z, x.w)); }
fn sum_of(x: vec4f) -> f32 { return (x.x + x.y) + (x.z + x.w); }
fn is_seen(key: vec4u, visible: vec2u) -> vec4<bool> { return (key >= vec4u(visible.x)) & (key < vec4u(visible.y)); }
fn has_large(x: vec4u) -> bool { return any((x & (x << vec4u(1u)) & vec4u(0x40004000u)) != vec4u()); }
fn four_of(block: u32, at: u32, c: u32) -> vec4f {
  let eight = blocks[block][at + c / 2u];
  let words = select(eight.xy, eight.zw, (c & 1u) == 1u);
  return vec4f(unpack2x16float(words.x), unpack2x16float(words.y));
}

${mainOf(queries)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let split = number % u.splits;
  let query_blocks = (u.queries + ${queries - 1}u) / ${queries}u;
  // Of causal attention the last blocks have most to do: they go first.
  let head = select(number / u.splits / query_blocks, number / u.splits % u.heads, u.causal != 0u);
  let query_block = select(number / u.splits % query_blocks, query_blocks - 1u - number / u.splits / u.heads, u.causal != 0u);
  let first_query = query_block * ${queries}u;
  let q_head = ${headOf('f16', 'q')};
  let k_head = ${headOf('f16', 'k')};
  let v_head = ${headOf('f16', 'v')};${sightOfHead('f16')}${SPLIT_KEYS}
  let query = first_query + lane;
  let subgroup = lane / ${SUBGROUP}u;
  let row = lane % ${SUBGROUP}u;
  let area = ${2 * blocks}u + subgroup * ${OWN_BLOCKS}u;

  let visible = vec2u(first_visible(sight, query), visible_keys(sight, query));
  let seen_by_all = visible_keys(sight, first_query);
  let seen_by_any = visible_keys(sight, min(first_query + ${queries}u, u.queries) - 1u);
  let hidden_from_some = first_visible(sight, min(first_query + ${queries}u, u.queries) - 1u);
  let begin = max(split * split_keys, first_visible(sight, first_query) / ${keys}u * ${keys}u);
  let end = min((split + 1u) * split_keys, seen_by_any);

${repeat(
  fetches,
  (i) => `  let slot${i} = lane + ${i * queries}u;
  let key_line${i} = slot${i} / ${4 * halves}u;
  let eight${i} = slot${i} % ${4 * halves}u;
  let block${i} = key_line${i} / ${UNIT}u * ${halves}u + eight${i} / 4u;
  let place${i} = key_line${i} % ${UNIT}u * ${LINE}u + eight${i} % 4u;
  var k_next${i} = vec4u();
  var v_next${i} = vec4u();`,
)}
${fetch('begin')}
${repeat(
  halves,
  (h) => `${repeat(4, (c) => `  ${own(c)} = ${vector('q', 'min(query, u.queries - 1u)', `${4 * h + c}u`)};`)}
  workgroupBarrier();
${rows((r) => repeat(2, (t) => `  let q${r}_${2 * h + t} = ${load('left', 'row', `area + ${r}u`, 2 * t)};`))}
  workgroupBarrier();`,
)}
${rows((r) => repeat(terms, (d) => `  var o${r}_${d} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`))}
  // Scores count in powers of two.
  let factor = u.scale * select(LOG2_E, 1.0, is_set(u.capped | u.masked, lane));
  var least = ABOVE_LOWEST;
  var total = 0.0;

  for (var first_key = begin; first_key < end; first_key += ${keys}u) {
    let edges = select(1u, 0u, (first_key >= hidden_from_some) & (first_key + ${keys}u <= seen_by_all));
${store}
    let is_special = subgroupAny(${Array.from({ length: fetches }, (_, i) => `has_large(v_next${i})`).join(' | ')});
${fetch(`first_key + ${keys}u`)}
    workgroupBarrier();
${part}
  }
  // As if what was read last were needed: else compilers read only where another tile follows, and wait for it there.
  if (u.zero != 0u) { blocks[0][row] = ${Array.from({ length: fetches }, (_, i) => `k_next${i} ^ v_next${i}`).join(' ^ ')}; }

${storeRows({ fit, partial, terms, sumsOut, own })}
}`,
  });
});

/** The options of {@link storeRows}. */
interface RowsParams extends Pick<MatrixParams, 'fit' | 'partial'> {
  /** Matrices of sums side by side. */
  readonly terms: number;
  /** WGSL: puts the sums of matrix d into workgroup memory. */
  readonly sumsOut: (d: number) => string;
  /** WGSL: vector c of the row of the invocation there. */
  readonly own: (c: number) => string;
}

/** WGSL: the end of `matrix`: each invocation divides and stores the sums of its query, or stores a record. */
function storeRows({ fit, partial, terms, sumsOut, own }: RowsParams): string {
  const isInside = (d: number): string => `query < u.queries${fit === 'full' ? '' : ` && ${d}u < u.value_dim`}`;
  const at = partial
    ? 'u.o_at + ((split * u.heads + head) * u.queries + query) * u.o_row'
    : 'o_start(head) + query * u.o_row';
  const storeVector = (d: number, c: number): string => {
    const column = d * UNIT + 4 * c;
    if (!partial) {
      return `    if (${isInside(column)}) { o[(at + ${column}u) / 4u] = ${storedVector('f16', `quotients(bitcast<vec4f>(${own(c)}), last)`)}; }`;
    }
    return `    if (${isInside(column)}) {
      let sums = bitcast<vec4f>(${own(c)});
${repeat(4, (i) => `      o[at + ${column + i}u] = sums[${i}];`)}
    }`;
  };
  return `  let at = ${at};
${partial ? '' : `  let last = ${totalOf('f16', 'total', 'query')};`}
${repeat(terms, (d) => `${sumsOut(d)}\n  workgroupBarrier();\n${repeat(4, (c) => storeVector(d, c))}\n  workgroupBarrier();`)}
${
  partial
    ? `  if (query < u.queries) {
    o[at + u.value_dim] = least * (LN2_HI + LN2_LO);
    o[at + u.value_dim + 1u] = total;
  }`
    : ''
}`;
}

const TILE_OF: ReadonlyMap<string, MatrixTile> = new Map(
  [64, 128].map((columns) => ({ queries: 64, keys: 16 as const, columns })).map((tile) => [idOf(tile), tile]),
);

/** Attention in f16 on matrix units, of rows that begin and end at multiples of eight. */
export const matrixTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    tilesOn(traits).flatMap((tile) =>
      (['full', 'wide'] as const).flatMap((fit) => [false, true].map((partial) => matrix({ tile, fit, partial }))),
    ),
  candidates: (sizes, traits) => {
    const { form, byEights = false } = sizes;
    const fitting = tilesOn(traits).filter(({ columns }) => columns >= columnsOf(sizes));
    const tiles = form === 'f16' && byEights ? fitting : [];
    const variants = tiles.map((tile) => withSplits(idOf(tile), tile.queries, sizes));
    const [preferred] = variants;
    if (preferred === undefined) return undefined;
    return { variants, preferred, rank: sizes.queries > SUBGROUP ? 2 : -1, condition: 'by eights' };
  },
  splitKeys: (variant) => shapeOf(TILE_OF, variant).keys,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const fit = fitOf(work, tile.columns) === 'full' ? 'full' : 'wide';
    const kernel = matrix({ tile, fit, partial: work.partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** The tiles that a device has matrix units and room for. */
function tilesOn({ matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes }: DeviceTraits): MatrixTile[] {
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  return [...(fits ? TILE_OF.values() : [])].filter(
    (tile) => tile.queries <= maxInvocations && matrixBytes(tile) <= maxWorkgroupBytes,
  );
}

function idOf({ queries, keys, columns }: MatrixTile): string {
  return `attention/matrix-${queries}x${keys}x${columns}`;
}
