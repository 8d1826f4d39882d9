import { shapeOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import {
  attentionFunctions,
  attentionInterface,
  formName,
  headOf,
  outputType,
  sightArgument,
  sightOfHead,
  sightParameter,
  SPLIT_KEYS,
} from './form.wgsl.ts';
import {
  byFours,
  COMPONENTS,
  fitOf,
  flashBytes,
  flashLanes,
  type FlashParams,
  type FlashTile,
  isWideOutput,
  keyOfSlot,
  PAD,
  panelsOf,
  quotients,
  readFunctions,
  ROWS,
  stageRows,
  stageTransposed,
  storeOutput,
  visibility,
} from './flash-parts.ts';
import type { DeviceTraits } from '../recorder.ts';
import { type AttentionTable, columnsOf, formsOf, groupsOf, rowsByFours, withSplits } from './table.ts';

/**
 * softmax(scale * Q K^T) V for a block of queries of one head per workgroup, which walks along the keys in tiles and
 * never stores a score outside of the chip: FlashAttention (Dao, Fu, Ermon, Rudra, Ré, 2022, algorithm 1, with the loop
 * over the queries outside as in FlashAttention-2). For GPUs: both products are made as matrix products are, of outer
 * products in registers. Causal attention stops at the last tile that a query of the block sees.
 *
 * Q and O are `[heads, queries, head_dim]`, K and V `[heads, keys, head_dim]`, as far as the window reaches. Workgroups are
 * numbered by head, block of queries, and split of the keys, the last running fastest; of causal attention by block, the
 * last first, then head. With `partial`, split s of row r writes record `s * heads * queries + r`.
 *
 * An invocation has 8 queries, two vectors of 4 neighbours, with `keys / across` scores and `columns / across` sums each;
 * 32 invocations (a warp) make a block of 4 x 8. Per tile: the scores, from Q and K that pass through workgroup memory
 * `depth` columns at a time, transposed; the largest score of each row, exchanged in workgroup memory; and the products
 * with V, for which weights and rows of V pass through workgroup memory `chunk` keys at a time. So little of it is taken at a
 * time because devices run as many workgroups at once as it has room for.
 *
 * exp is WGSL's own, to which 3 + 2 |x| ulp are granted: the bound of docs/numerics.md. No infinity is made for it while
 * scores are below 2^103: a hidden score is the lowest number, and the largest score starts one number above, so that the
 * weight is exp(-2^104). Where the operands have infinities or NaN, exp has to make 0 and NaN of them, which is not granted;
 * conformance tests it.
 */
const flash: (params: FlashParams) => Kernel = variants((params: FlashParams) => {
  const { tile, fit, form, partial } = params;
  const isPlain = form === 'plain';
  const s = sightArgument(form);
  const { queries, keys, columns, across, depth, chunk, unroll, ahead } = tile;
  const lanes = flashLanes(tile);
  const panels = panelsOf(tile);
  const down = queries / ROWS;
  // Vectors of 4 keys, and of 4 columns of O, that an invocation has.
  const keyVectors = keys / across / 4;
  const vectors = columns / across / 4;

  const eachRow = (line: (i: number, g: number, component: string) => string): string =>
    repeat(ROWS, (i) => line(i, Math.floor(i / 4), COMPONENTS[i % 4] as string));
  const scoreProducts = repeat(unroll, (p) =>
    [
      repeat(2, (g) => `        let a${p}_${g} = rows_tile[c][${p}][lane_row + ${down * g}u];`),
      repeat(keyVectors, (n) => `        let b${p}_${n} = stage[c][${p}][lane_column + ${across * n}u];`),
      eachRow((i, g, x) =>
        repeat(keyVectors, (n) => `        s${i}_${n} = fma(vec4f(a${p}_${g}.${x}), b${p}_${n}, s${i}_${n});`),
      ),
    ].join('\n'),
  );

  /** Panel and column in `stage` of the lane's vector j of a row of V. */
  const valuePlace = (j: number): { readonly block: number; readonly column: string } => ({
    block: Math.floor((across * j * 4) / keys) * (chunk / unroll),
    column: `lane_column + ${(across * j) % (keys / 4)}u`,
  });
  const valueProducts = repeat(unroll, (p) =>
    [
      repeat(2, (g) => `        let a${p}_${g} = rows_tile[c][${p}][lane_row + ${down * g}u];`),
      repeat(vectors, (j) => {
        const { block, column } = valuePlace(j);
        return `        let b${p}_${j} = stage[${block}u + c][${p}][${column}];`;
      }),
      eachRow((i, g, x) =>
        repeat(vectors, (j) => `        o${i}_${j} = fma(vec4f(a${p}_${g}.${x}), b${p}_${j}, o${i}_${j});`),
      ),
    ].join('\n'),
  );

  const qStage = stageTransposed({ name: 'q', rows: queries, depth, unroll, lanes, last: 'u.queries - 1u' });
  const kStage = stageTransposed({ name: 'k', rows: keys, depth, unroll, lanes, last: 'u.keys - 1u' });
  const vStage = stageRows({ rows: chunk, width: keys / 4, vectors: columns / 4, unroll, lanes, across });
  const fetchScores = (row: string, column: string): string =>
    `${kStage.fetch(0, { row, column })}\n${qStage.fetch(kStage.registers, { row: 'first_query', column })}`;
  const storeScores = `${kStage.store(0)}\n${qStage.store(kStage.registers)}`;
  const fetchValues = (first: string): string => vStage.fetch(0, { row: 'tile', column: first });
  const registers = Math.max(kStage.registers + qStage.registers, vStage.registers);
  /** An invocation's weights for number t of its keys; in a chunk there are `chunk / across` such numbers. */
  const storeWeights = (t: number): string => {
    const [n, c] = [Math.floor(t / 4), COMPONENTS[t % 4] as string];
    const slot = (t * across) % chunk;
    return repeat(2, (g) => {
      const values = [0, 1, 2, 3].map((row) => `s${4 * g + row}_${n}.${c}`).join(', ');
      return `          rows_tile[${slot / unroll}u + lane_column / ${unroll}u][lane_column % ${unroll}u][lane_row + ${down * g}u] = vec4f(${values});`;
    });
  };
  const { visible, isSeen, isRowSeen } = visibility(form);
  const keysOf = (n: number): string => `tile + 4u * (lane_column + ${across * n}u) + vec4u(0u, 1u, 2u, 3u)`;
  const finishScores = `
    if (is_set(u.capped | u.masked, lane)) {
${eachRow((i, g) => {
  const row = `mask_row(head, query${g} + ${i % 4}u)`;
  return repeat(keyVectors, (n) => `      s${i}_${n} = finish_scores(s${i}_${n}, ${row}, ${keysOf(n)});`);
})}
    }`;
  const perChunk = chunk / across;

  return defineKernel({
    name: `attention/flash ${queries}x${keys}x${columns} ${fit}${formName(form, partial)}`,
    ...attentionInterface(form, fit !== 'any', outputType(form, isWideOutput({ fit, partial }))),
    code: /* wgsl */ `
${attentionFunctions(form)}
${readFunctions(fit, form)}
${quotients}

// Columns of Q, weights, or numbers on their way across a row: [number][four rows]
var<workgroup> rows_tile: array<array<array<vec4f, ${queries / 4 + PAD}>, ${unroll}>, ${panels.rows}>;
// Whether there was a value at the edge that is infinite or NaN.
var<workgroup> has_specials: atomic<u32>;
// Columns of K, or rows of V.
var<workgroup> stage: array<array<array<vec4f, ${keys / 4 + PAD}>, ${unroll}>, ${panels.stage}>;

// It does not matter what max makes of a NaN: the weight of that score is NaN, and so is the whole row.
fn largest_of(x: vec4f) -> f32 { return max(max(x.x, x.y), max(x.z, x.w)); }

const ABOVE_LOWEST = -0x1.fffffcp+127f;

// Leaves the visible scores. exp makes a weight of 0 of the others, whatever the largest score is.
fn only(scores: vec4f, is_visible: vec4<bool>) -> vec4f { return select(vec4f(LOWEST), scores, is_visible); }

fn visible_to_four(${sightParameter(form)}query: u32) -> vec4u {
  return vec4u(visible_keys(${s}query), visible_keys(${s}query + 1u), visible_keys(${s}query + 2u), visible_keys(${s}query + 3u));
}
${isPlain ? '' : byFours}
fn is_special(x: vec4f) -> bool { return any((bitcast<vec4u>(x) & vec4u(INFINITY)) == vec4u(INFINITY)); }

${mainOf(lanes)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let split = number % u.splits;
  let blocks = (u.queries + ${queries - 1}u) / ${queries}u;
  // Of causal attention the last blocks have most to do: they go first.
  let head = select(number / u.splits / blocks, number / u.splits % u.heads, u.causal != 0u);
  let block = select(number / u.splits % blocks, blocks - 1u - number / u.splits / u.heads, u.causal != 0u);
  let first_query = block * ${queries}u;
  let q_head = ${headOf(form, 'q')};
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}

  let warp = lane / 32u;
  let lane_row = warp / ${across / 8}u * 4u + lane % 32u / 8u;
  let lane_column = warp % ${across / 8}u * 8u + lane % 8u;
${repeat(
  2,
  (g) => `  let query${g} = first_query + 4u * (lane_row + ${down * g}u);
  var largest${g} = vec4f(ABOVE_LOWEST);
  // Only over the keys of this invocation, until the end.
  var total${g} = vec4f();`,
)}
  let seen_by_all = visible_keys(${s}first_query);
  let seen_by_any = visible_keys(${s}min(first_query + ${queries}u, u.queries) - 1u);
${
  isPlain
    ? `  let begin = split * u.split_keys;
  let end = min(begin + u.split_keys, seen_by_any);`
    : `  let hidden_from_some = first_visible(sight, min(first_query + ${queries}u, u.queries) - 1u);
${SPLIT_KEYS}
  let begin = max(split * split_keys, first_visible(sight, first_query) / ${keys}u * ${keys}u);
  let end = min((split + 1u) * split_keys, seen_by_any);`
}
${repeat(ROWS, (i) => repeat(vectors, (j) => `  var o${i}_${j} = vec4f();`))}
${repeat(registers, (index) => `  var x${index} = vec4f();`)}

  // A bound that the compiler does not know, else it unrolls more than fits into the cache of instructions.
  let chunk = min(${chunk}u, u.split_keys);
${ahead ? fetchScores('begin', '0u') : ''}
  for (var tile = begin; tile < end; tile += ${keys}u) {
    let is_inner = ${isPlain ? `tile + ${keys}u <= seen_by_all` : `(tile >= hidden_from_some) & (tile + ${keys}u <= seen_by_all)`};
${repeat(ROWS, (i) => repeat(keyVectors, (n) => `    var s${i}_${n} = vec4f();`))}
    for (var column = 0u; column < u.head_dim; column += ${depth}u) {
${ahead ? '' : fetchScores('tile', 'column')}
      workgroupBarrier();
${storeScores}
      workgroupBarrier();
${
  ahead
    ? `      if (column + ${depth}u < u.head_dim) {
${fetchScores('tile', `column + ${depth}u`)}
      } else {
${fetchValues('0u')}
      }`
    : ''
}
      let panels = (min(${depth}u, u.head_dim - column) + ${unroll - 1}u) / ${unroll}u;
      for (var c = 0u; c < panels; c++) {
${scoreProducts}
      }
    }

${eachRow((i) => repeat(keyVectors, (n) => `    s${i}_${n} *= u.scale;`))}${isPlain ? '' : finishScores}
    if (!is_inner) {
${visible}
${repeat(keyVectors, (n) => `      let key${n} = ${keysOf(n)};`)}
${eachRow((i, g, x) => repeat(keyVectors, (n) => `      s${i}_${n} = only(s${i}_${n}, ${isSeen(`key${n}`, g, x)});`))}
    }
    workgroupBarrier();
${repeat(
  2,
  (g) => `    rows_tile[lane_column / ${unroll}u][lane_column % ${unroll}u][lane_row + ${down * g}u] = vec4f(${[
    0, 1, 2, 3,
  ]
    .map((c) => {
      const row = Array.from({ length: keyVectors }, (_, n) => `largest_of(s${4 * g + c}_${n})`);
      return row.reduce((a, b) => `max(${a}, ${b})`);
    })
    .join(', ')});
    var now${g} = largest${g};`,
)}
    workgroupBarrier();
    for (var i = 0u; i < ${across}u; i++) {
${repeat(
  2,
  (g) => `      let other${g} = rows_tile[i / ${unroll}u][i % ${unroll}u][lane_row + ${down * g}u];
      now${g} = max(now${g}, other${g});`,
)}
    }
${repeat(
  2,
  (g) => `    let factor${g} = exp(largest${g} - now${g});
    largest${g} = now${g};
    total${g} *= factor${g};`,
)}
${eachRow((i, g, x) =>
  [
    repeat(keyVectors, (n) => `    s${i}_${n} = exp(s${i}_${n} - now${g}.${x});`),
    repeat(vectors, (j) => `    o${i}_${j} *= factor${g}.${x};`),
  ].join('\n'),
)}
${eachRow((i, g, x) =>
  repeat(keyVectors, (n) => `    total${g}.${x} += (s${i}_${n}.x + s${i}_${n}.y) + (s${i}_${n}.z + s${i}_${n}.w);`),
)}

    for (var first = 0u; first < min(${keys}u, u.split_keys); first += ${chunk}u) {
${ahead ? '' : fetchValues('first')}
      workgroupBarrier();
      switch (first / ${chunk}u) {
${repeat(
  keys / chunk,
  (part) => `        ${part === keys / chunk - 1 ? 'default' : `case ${part}u`}: {
${repeat(perChunk, (t) => storeWeights(part * perChunk + t))}
        }`,
)}
      }
${vStage.store(0)}
      if (!is_inner) {
        if (${Array.from({ length: vStage.registers }, (_, index) => `is_special(x${index})`).join(' | ')}) {
          atomicStore(&has_specials, 1u);
        }
      }
      workgroupBarrier();
${
  ahead
    ? `${
        chunk < keys
          ? `      if (first + ${chunk}u < ${keys}u) {
${fetchValues(`(first + ${chunk}u)`)}
      } else`
          : ''
      } {
${fetchScores(`(tile + ${keys}u)`, '0u')}
      }`
    : ''
}
      if (is_inner || atomicLoad(&has_specials) == 0u) {
        for (var c = 0u; c < chunk / ${unroll}u; c++) {
${valueProducts}
        }
      } else {
        // A weight of 0 does not hide a value that is infinite or NaN.
${visible}
        for (var row = 0u; row < chunk; row++) {
          let slot = first + row;
          let key = tile + ${keyOfSlot('slot', across)};
${repeat(2, (g) => `          let a${g} = rows_tile[row / ${unroll}u][row % ${unroll}u][lane_row + ${down * g}u];`)}
${repeat(vectors, (j) => {
  const { block, column } = valuePlace(j);
  return `          let b${j} = stage[${block}u + row / ${unroll}u][row % ${unroll}u][${column}];`;
})}
${eachRow((i, g, x) =>
  repeat(vectors, (j) => `          o${i}_${j} += select(vec4f(), a${g}.${x} * b${j}, ${isRowSeen(g, x)});`),
)}
        }
      }
    }
  }

  workgroupBarrier();
${repeat(2, (g) => `  rows_tile[lane_column / ${unroll}u][lane_column % ${unroll}u][lane_row + ${down * g}u] = total${g};`)}
  workgroupBarrier();
${repeat(2, (g) => `  total${g} = vec4f();`)}
  for (var i = 0u; i < ${across}u; i++) {
${repeat(2, (g) => `    total${g} += rows_tile[i / ${unroll}u][i % ${unroll}u][lane_row + ${down * g}u];`)}
  }

${storeOutput(params)}
}`,
  });
});

/** Tiles: those with the largest number of queries in a workgroup first. */
export const FLASH_TILES: readonly FlashTile[] = [
  { queries: 64, keys: 64, columns: 64, across: 8, depth: 16, chunk: 16, unroll: 8, ahead: false },
  { queries: 64, keys: 128, columns: 128, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
  { queries: 32, keys: 64, columns: 64, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
];

const TILE_OF: ReadonlyMap<string, FlashTile> = new Map(FLASH_TILES.map((tile) => [flashId(tile), tile]));

/** Queries for which most of a block would be wasted. */
const FEW_QUERIES = 16;
/** Workgroups of a tile with few invocations for its size that keep a GPU busy: they are not alone on a multiprocessor. */
const ENOUGH_LARGE_TILES = 512;

/** Attention as matrix products are made, of outer products in registers: for GPUs. */
export const flashTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    tilesOn(traits).flatMap((tile) =>
      (['full', 'wide', 'any'] as const).flatMap((fit) =>
        formsOf((form) => rowsByFours(form, fit !== 'any')).map((way) => flash({ tile, fit, ...way })),
      ),
    ),
  candidates: (sizes, traits) => {
    const { heads, queries } = sizes;
    const fitting = tilesOn(traits).filter(({ columns }) => columns >= columnsOf(sizes));
    // The fewest columns that will do.
    const columns = Math.min(...fitting.map((tile) => tile.columns));
    const tiles = fitting.filter((tile) => tile.columns === columns);
    const best = tiles.find((tile) => heads * Math.ceil(queries / tile.queries) >= ENOUGH_LARGE_TILES) ?? tiles.at(-1);
    if (best === undefined) return undefined;
    const variants = tiles.map((tile) => withSplits(flashId(tile), tile.queries, sizes));
    const preferred = withSplits(flashId(best), best.queries, sizes);
    return { variants, preferred, rank: queries > FEW_QUERIES ? 1 : -1 };
  },
  splitKeys: (variant) => shapeOf(TILE_OF, variant).keys,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { sizes, partial } = work;
    const kernel = flash({ tile, fit: fitOf(work, tile.columns), form: sizes.form, partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** The tiles that a device has invocations and memory for. */
function tilesOn({ isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly FlashTile[] {
  if (isSoftware) return [];
  return FLASH_TILES.filter((tile) => flashLanes(tile) <= maxInvocations && flashBytes(tile) <= maxWorkgroupBytes);
}

/** Id of a tile. */
export function flashId({ queries, keys, columns }: FlashTile): string {
  return `attention/flash-${queries}x${keys}x${columns}`;
}
