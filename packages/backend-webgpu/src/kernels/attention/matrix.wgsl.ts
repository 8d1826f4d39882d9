import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { byFours, type Fit, quotients } from './flash-parts.ts';
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

/** Shape of a workgroup's work on the matrix units. */
export interface MatrixTile {
  /** Queries of a workgroup: one an invocation. */
  readonly queries: number;
  /** Keys that are in workgroup memory at a time: as many as one product takes. */
  readonly keys: 16;
  /** Largest head dimension, a multiple of 32. */
  readonly columns: number;
}

/** Invocations of a subgroup. */
export const SUBGROUP = 32;
/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;

/** Vectors of a line of scores, weights or sums: one is free, so that eight lines that are read together lie in different banks. */
const LINE = UNIT / 4 + 1;

/** Vectors of a line of K or V, likewise. */
const keyLine = ({ columns }: MatrixTile): number => columns / 8 + 1;

/** Vectors of workgroup memory: the keys of a tile, their values, and a line for each query. */
const vectorsOf = (tile: MatrixTile): number => 2 * tile.keys * keyLine(tile) + tile.queries * LINE;

/** Bytes of workgroup memory. */
export const matrixBytes = (tile: MatrixTile): number => 16 * vectorsOf(tile) + 4 * (tile.queries / SUBGROUP);

/** The parameters that distinguish the kernels. */
interface MatrixParams {
  readonly tile: MatrixTile;
  readonly fit: Exclude<Fit, 'any'>;
  /** Scores have a softcap or a mask. */
  readonly finishes: boolean;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/**
 * softmax(scale * Q K^T) V of f16 on matrix units, with sums in float32, as `flash` walks along the keys: a workgroup has a block of
 * queries of one head, a subgroup 32 of them, an invocation one. For rows of Q, K and V that begin and end at multiples of eight.
 *
 * Tile by tile, 16 keys, K and V go to workgroup memory; the next ones are read to registers meanwhile. The units multiply Q and K; the scores go
 * through the subgroup's lines to the invocations of their queries, which make weights of them; those go back as two matrices, what
 * binary16 holds of them and what it lost, and are multiplied with V. Q and the sums stay in the units' registers. Only the
 * device knows which invocation holds what of a matrix, so sums are scaled through workgroup memory too: only when the
 * largest score has grown by more than SLACK, which is rare after the first tile.
 *
 * Usual tiles, of which all queries see every key and which need nothing of that kind, have a loop of their own, without branches: compilers copy
 * the sums from register to register where ways meet. A tile that turns out not to be one is begun anew.
 *
 * A subgroup's lines go from hand to hand after barriers of the workgroup: WGSL has none for a subgroup, and a workgroup is small
 * for that reason. So subgroups also scale sums together, and all take the way of special tiles, when one has to.
 *
 * Weights lie between 2^-32 and 2^15, or lose digits. Where V has values from 64 on those would be seen, and infinite ones must not meet the
 * weight 0 of a hidden key: such a tile is summed by the invocations, in float32.
 */
export const matrix: (params: MatrixParams) => Kernel = variants((params: MatrixParams) => {
  const { tile, fit, finishes, partial } = params;
  const { queries, keys, columns } = tile;
  const subgroups = queries / SUBGROUP;
  const terms = columns / UNIT;
  const line = keyLine(tile);
  const values = keys * line;
  const keysOf = (c: number, more = ''): string => `(vec4u(first_key${more} + ${4 * c}u) + vec4u(0u, 1u, 2u, 3u))`;
  const fetches = (keys * columns) / 8 / queries;
  const rows = (text: (r: number) => string): string => repeat(SUBGROUP / UNIT, text);
  const fours = (text: (c: number) => string): string => repeat(UNIT / 4, text);
  const own = (c: number | string): string => `memory[own + ${c}]`;

  // As if the place depended on what was read before: see `matrix-units.wgsl.ts`.
  const vector = (name: 'q' | 'k' | 'v', row: string, eight: string, before = '0u'): string => {
    const value = `${name}[(${name}_head + ${row} * ${rowOf('f16', name)}) / 8u + ${eight} + (${before} & u.zero)]`;
    return fit === 'full' ? value : `select(vec4u(), ${value}, 8u * (${eight}) < ${widthOf(name)})`;
  };
  const fetch = (name: 'k' | 'v', first: string): string =>
    repeat(
      fetches,
      (i) =>
        `    ${name}_next${i} = ${vector(name, `min(${first} + key_line${i}, u.keys - 1u)`, `eight${i}`, `${name}_next${i}.x`)};`,
    );
  const store = (name: 'k' | 'v'): string =>
    repeat(fetches, (i) => `    memory[place${i} + ${name === 'k' ? 0 : values}u] = ${name}_next${i};`);
  const load = (kind: 'left' | 'right', major: 'row' | 'col', at: string, stride = LINE): string =>
    `subgroupMatrixLoad<subgroup_matrix_${kind}<f16, ${UNIT}, ${UNIT}>, ${major}_major>(&memory, ${at}, ${stride}u)`;
  const ownRows = (r: number): string => `area + ${r * UNIT * LINE}u`;
  const sumsOut = (d: number): string =>
    rows((r) => `      subgroupMatrixStore<row_major>(&memory, ${ownRows(r)}, o${r}_${d}, ${LINE}u);`);
  const sumsBack = (d: number): string =>
    rows(
      (r) =>
        `      o${r}_${d} = subgroupMatrixLoad<subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>, row_major>(&memory, ${ownRows(r)}, ${LINE}u);`,
    );

  const scores = /* wgsl */ `
${rows((r) => `      var s${r} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`)}
${repeat(
  terms,
  (t) => `      {
        let b = ${load('right', 'col', `${2 * t}u`, line)};
${rows((r) => `        s${r} = subgroupMatrixMultiplyAccumulate(q${r}_${t}, b, s${r});`)}
      }`,
)}
${rows((r) => `      subgroupMatrixStore<row_major>(&memory, ${ownRows(r)}, s${r}, ${LINE}u);`)}
      workgroupBarrier();
${fours((c) => `      var x${c} = ${finishes ? `finish_scores(bitcast<vec4f>(${own(c)}) * u.scale, mask, ${keysOf(c)}) * LOG2_E` : `bitcast<vec4f>(${own(c)}) * factor`};`)}`;
  const asks = /* wgsl */ `
      let top = max(max(largest_of(x0), largest_of(x1)), max(largest_of(x2), largest_of(x3)));
      let grows = subgroupAny(top > least + SHIFT + SLACK);
${store('v')}
      let is_special = subgroupAny(${Array.from({ length: fetches }, (_, i) => `has_large(v_next${i})`).join(' | ')});
      if (row == 0u) { asked[subgroup] = select(0u, 1u, grows) | select(0u, 2u, is_special); }`;
  const ask = /* wgsl */ `
      let asks = workgroupUniformLoad(&asked);
      let ask = ${Array.from({ length: subgroups }, (_, i) => `asks[${i}]`).join(' | ')};`;
  const next = /* wgsl */ `
${store('k')}
${fetch('k', `first_key + ${2 * keys}u`)}
${fetch('v', `first_key + ${keys}u`)}`;
  const exponentials = fours((c) => `      x${c} = exp2(x${c} - least);`);
  const addWeights = '      total += sum_of(x0) + sum_of(x1) + (sum_of(x2) + sum_of(x3));';
  const storeWeights = /* wgsl */ `
${fours(
  (c) => `      let h${c} = bitcast<vec4f>(bitcast<vec4u>(x${c}) & vec4u(0xffffe000u));
      let l${c} = x${c} - h${c};`,
)}
${fours((c) => {
  const [name, i] = [c < 2 ? 'h' : 'l', 2 * (c % 2)];
  const words = ['xy', 'zw'].flatMap((pair) => [`${name}${i}.${pair}`, `${name}${i + 1}.${pair}`]);
  const [x, z, y, w] = words.map((pair) => `pack2x16float(${pair})`);
  return `      ${own(c)} = vec4u(${x}, ${y}, ${z}, ${w});`;
})}`;
  const addValues = /* wgsl */ `
${rows(
  (r) => `      let high${r} = ${load('left', 'row', ownRows(r))};
      let low${r} = ${load('left', 'row', `${ownRows(r)} + 2u`)};`,
)}
${repeat(
  terms,
  (d) => `      {
        let b = ${load('right', 'row', `${values + 2 * d}u`, line)};
${rows((r) => `        o${r}_${d} = subgroupMatrixMultiplyAccumulate(high${r}, b, o${r}_${d});`)}
${rows((r) => `        o${r}_${d} = subgroupMatrixMultiplyAccumulate(low${r}, b, o${r}_${d});`)}
      }`,
)}`;

  // Weights are stored before it is known whether they will do, so that the barriers of the question are those of the weights too.
  const usualTile = /* wgsl */ `
${scores}
${asks}
${exponentials}
${storeWeights}
${ask}
      if (ask != 0u) { break; }
${addWeights}
${next}
${addValues}
      workgroupBarrier();
      first_key += ${keys}u;`;

  // The first tile makes the scale.
  const usualTiles = /* wgsl */ `
    let is_usual = (first_key > begin) & (first_key >= hidden_from_some);
    let usual_end = select(first_key, max(first_key, min(end, seen_by_all)), is_usual);
    for (var left = (usual_end - first_key) / ${keys}u; left > 0u; left--) {
${usualTile}
    }`;

  const anyTile = /* wgsl */ `
${scores}
      // A branch would become selections, which cost every tile.
      let edges = select(1u, 0u, (first_key >= hidden_from_some) & (first_key + ${keys}u <= seen_by_all));
      for (var edge = 0u; edge < edges; edge++) {
${fours((c) => `        x${c} = select(vec4f(LOWEST), x${c}, is_seen(${keysOf(c, ' + (edge & u.zero)')}, visible));`)}
      }
${asks}
${ask}
${next}
      if ((ask & 1u) != 0u) {
        let now = max(least, top - SHIFT);
        let shrink = exp2(least - now);
        least = now;
        total *= shrink;
${repeat(
  terms,
  (d) => `${sumsOut(d)}
        workgroupBarrier();
${fours((c) => `        ${own(c)} = bitcast<vec4u>(bitcast<vec4f>(${own(c)}) * shrink);`)}
        workgroupBarrier();
${sumsBack(d)}
        workgroupBarrier();`,
)}
      }
${exponentials}
${addWeights}
      if ((ask & 2u) != 0u) {
${fours((c) => `        let seen${c} = is_seen(${keysOf(c)}, visible);`)}
${repeat(
  terms,
  (d) => `${sumsOut(d)}
        workgroupBarrier();
        for (var c = 0u; c < 4u; c++) {
          var sum = bitcast<vec4f>(${own('c')});
${repeat(UNIT, (j) => {
  const [x, w] = [Math.floor(j / 4), 'xyzw'[j % 4]];
  return `          sum += select(vec4f(), x${x}.${w} * four_of(${values + j * line + 2 * d}u, c), seen${x}.${w});`;
})}
          ${own('c')} = bitcast<vec4u>(sum);
        }
        workgroupBarrier();
${sumsBack(d)}
        workgroupBarrier();`,
)}
      } else {
${storeWeights}
        workgroupBarrier();
${addValues}
      }
      workgroupBarrier();
      first_key += ${keys}u;`;

  return defineKernel({
    name: `attention/matrix ${queries}x${keys}x${columns} ${fit}${finishes ? ' finishes' : ''}${partial ? ' partial' : ''}`,
    ...attentionInterface('f16', 'array<vec4u>', outputType('f16', !partial)),
    features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
    // Blocks are the same throughout a subgroup, but made of the number of the invocation, of which WGSL does not know that.
    silenced: ['chromium.subgroup_matrix_uniformity'],
    code: /* wgsl */ `
${attentionFunctions('f16')}
${quotients}
${byFours}

var<workgroup> memory: array<vec4u, ${vectorsOf(tile)}>;
// What a subgroup asks all for: to scale sums (1), to take a tile with values that binary16 weights are not good enough for (2).
var<workgroup> asked: array<u32, ${subgroups}>;

const ABOVE_LOWEST = -0x1.fffffcp+127f;
// Weights are up to 2^15 for the sake of their halves; sums are taken to a new scale where the largest score grew by more than SLACK.
const SHIFT = 8f;
const SLACK = 7f;

fn largest_of(x: vec4f) -> f32 { return max(max(x.x, x.y), max(x.z, x.w)); }
fn sum_of(x: vec4f) -> f32 { return (x.x + x.y) + (x.z + x.w); }
fn is_seen(key: vec4u, visible: vec2u) -> vec4<bool> { return (key >= vec4u(visible.x)) & (key < vec4u(visible.y)); }
// Whether one of eight halves is 64 or more.
fn has_large(x: vec4u) -> bool {
  return any((((x & vec4u(0x7fff7fffu)) + vec4u(0x2c002c00u)) & vec4u(0x80008000u)) != vec4u());
}
fn four_of(at: u32, c: u32) -> vec4f {
  let eight = memory[at + c / 2u];
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
  let area = ${2 * values}u + subgroup * ${SUBGROUP * LINE}u;
  let own = area + row * ${LINE}u;

  let visible = vec2u(first_visible(sight, query), visible_keys(sight, query));
  let seen_by_all = visible_keys(sight, first_query);
  let seen_by_any = visible_keys(sight, min(first_query + ${queries}u, u.queries) - 1u);
  let hidden_from_some = first_visible(sight, min(first_query + ${queries}u, u.queries) - 1u);
  let begin = max(split * split_keys, first_visible(sight, first_query) / ${keys}u * ${keys}u);
  let end = min((split + 1u) * split_keys, seen_by_any);

${repeat(
  fetches,
  (i) => `  let slot${i} = lane + ${i * queries}u;
  let key_line${i} = slot${i} / ${columns / 8}u;
  let eight${i} = slot${i} % ${columns / 8}u;
  let place${i} = key_line${i} * ${line}u + eight${i};
  var k_next${i} = vec4u();
  var v_next${i} = vec4u();`,
)}
${fetch('k', 'begin')}
${fetch('v', 'begin')}
${repeat(
  columns / 32,
  (h) => `${repeat(4, (c) => `  ${own(c)} = ${vector('q', 'min(query, u.queries - 1u)', `${4 * h + c}u`)};`)}
  workgroupBarrier();
${rows((r) => repeat(2, (t) => `  let q${r}_${2 * h + t} = ${load('left', 'row', `${ownRows(r)} + ${2 * t}u`)};`))}
  workgroupBarrier();`,
)}
${rows((r) => repeat(terms, (d) => `  var o${r}_${d} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`))}
  // Scores count in powers of two.
  ${finishes ? 'let mask = mask_row(head, query);' : 'let factor = u.scale * LOG2_E;'}
  var least = ABOVE_LOWEST;
  var total = 0.0;

  var first_key = begin;
${store('k')}
${fetch('k', `begin + ${keys}u`)}
  workgroupBarrier();
  while (first_key < end) {
${finishes ? '' : usualTiles}
    if (first_key < end) {
${anyTile}
    }
  }
  // As if what was read last were needed: else compilers read only where another tile follows, and wait for it there.
  if (u.zero != 0u) { memory[row] = ${Array.from({ length: fetches }, (_, i) => `k_next${i} ^ v_next${i}`).join(' ^ ')}; }

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
