import { shapeOf } from '@concord/variants';
import { defineKernel, type Kernel, mainOf, variants } from '../kernel.ts';
import { repeat } from '../wgsl/snippets.ts';
import { type Fit, fitOf, isWideOutput, readFunctions } from './flash-parts.ts';
import {
  attentionFunctions,
  attentionInterface,
  type Form,
  formName,
  headOf,
  outputType,
  sightOfHead,
  SPLIT_KEYS,
  storedVector,
  totalOf,
} from './form.wgsl.ts';
import type { DeviceTraits } from '../recorder.ts';
import { decodeRow, decodeRowBytes } from './decode-row.wgsl.ts';
import {
  type AttentionSizes,
  type AttentionTable,
  type AttentionVariant,
  columnsOf,
  formsOf,
  rowsByFours,
} from './table.ts';

/** Shape of a workgroup's work. */
interface RowsTile {
  /** Rows of O that share their keys, at a time: queries of all heads of a group. */
  readonly rows: 4 | 8;
  /** Largest head dimension. */
  readonly columns: 64 | 128 | 256;
}

/** The parameters that distinguish the `decode` kernels. */
export interface DecodeParams {
  readonly tile: RowsTile;
  readonly form: Exclude<Form, 'plain'>;
  readonly fit: Fit;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Invocations in a workgroup. */
const DECODE_LANES = 256;
/** Invocations that read a row of K together. */
const TEAM = 4;
/** Rows of V of an invocation that are on their way at once. */
const AT_ONCE = 8;
/** Invocations that share the maximum and the sum of a row. */
const SHARERS = 16;

/** Keys of a tile: with one score of each row an invocation. */
const keysOf = ({ rows }: RowsTile): number => DECODE_LANES / rows;

/** Bytes of workgroup memory. */
const decodeBytes = ({ rows, columns }: RowsTile): number =>
  4 * (DECODE_LANES * TEAM + DECODE_LANES + rows * (columns + SHARERS + 2));

/**
 * softmax(scale * Q K^T) V for few queries, which read all of K and V for little arithmetic: some of each head, or the heads of
 * a group that share their keys. The keys are split over the device, so that all of it reads.
 *
 * Workgroups are numbered by heads of K, block of rows, and split of the keys, the last running fastest. Row x of a head of K is
 * query `x % queries` of its head `x / queries` of Q. With `partial`, split s of row r writes record
 * `s * heads * queries + r`.
 *
 * Per tile: {@link TEAM} invocations read a row of K, each every fourth vector of it, and leave their parts of the products with
 * all rows in workgroup memory; then an invocation has one score, for the online softmax; then each has a vector of four columns
 * and every so manieth key of V. Its sums stay in registers until the end, when they meet.
 */
const decode: (params: DecodeParams) => Kernel = variants((params: DecodeParams) => {
  const { tile, form, fit, partial } = params;
  const { rows, columns } = tile;
  const keys = keysOf(tile);
  const vectors = columns / 4;
  // Rows of V that are read at a time.
  const across = DECODE_LANES / vectors;
  const atOnce = Math.min(AT_ONCE, keys / across);
  const isWide = isWideOutput({ fit, partial });
  // Parts of the scores of a row of K for each team.
  const partsOfScores = [
    repeat(rows, (r) => `      var sum${r} = vec4f();`),
    repeat(vectors / TEAM, (c) =>
      [
        `      let k${c} = read_k(k_head, key, member + ${c * TEAM}u);`,
        repeat(rows, (r) => `      let q${c}_${r} = q_tile[${r * vectors}u + member + ${c * TEAM}u];`),
        repeat(rows, (r) => `      sum${r} = fma(q${c}_${r}, k${c}, sum${r});`),
      ].join('\n'),
    ),
    repeat(rows, (r) => {
      const at = `(${r * TEAM}u + member) * ${keys}u + lane / ${TEAM}u`;
      return `      numbers[${at}] = (sum${r}.x + sum${r}.y) + (sum${r}.z + sum${r}.w);`;
    }),
  ].join('\n');
  const store = isWide
    ? `o[(at + 4u * four) / 4u] = ${storedVector(form, 'vec4f(quotient(value.x, last), quotient(value.y, last), quotient(value.z, last), quotient(value.w, last))')};`
    : repeat(
        4,
        (c) =>
          `        if (4u * four + ${c}u < u.value_dim) { o[at + 4u * four + ${c}u] = ${partial ? `value[${c}]` : `quotient(value[${c}], last)`}; }`,
      );

  return defineKernel({
    name: `attention/decode ${rows}x${keys}x${columns} ${fit}${formName(form, partial)}`,
    ...attentionInterface(form, fit !== 'any', outputType(form, isWide)),
    code: /* wgsl */ `
${attentionFunctions(form)}
${readFunctions(fit, form)}

// Parts of scores: [row][member of a team][key]; at the end sums: [component][invocation].
var<workgroup> numbers: array<f32, ${DECODE_LANES * TEAM}>;
// [row][key]: scores, then weights.
var<workgroup> weights: array<f32, ${DECODE_LANES}>;
// [row][sharer]
var<workgroup> shared_values: array<f32, ${rows * SHARERS}>;
// Of each row: what its sums are scaled by, then the sum of its weights.
var<workgroup> row_values: array<f32, ${rows}>;
var<workgroup> row_largest: array<f32, ${rows}>;
var<workgroup> q_tile: array<vec4f, ${rows * vectors}>;

fn row_number(block: u32, row: u32) -> u32 { return min(block * ${rows}u + row, u.group * u.queries - 1u); }

${mainOf(DECODE_LANES)}
  let number = group_index(id, grid);
  if (number >= u.group_count) { return; }
  let split = number % u.splits;
  let blocks = (u.group * u.queries + ${rows - 1}u) / ${rows}u;
  let block = number / u.splits % blocks;
  let first_head = number / u.splits / blocks * u.group;
  let head = first_head;
  let k_head = ${headOf(form, 'k')};
  let v_head = ${headOf(form, 'v')};${sightOfHead(form)}${SPLIT_KEYS}

  for (var i = lane; i < ${rows * vectors}u; i += ${DECODE_LANES}u) {
    let x = row_number(block, i / ${vectors}u);
    q_tile[i] = read_q(q_start(first_head + x / u.queries), x % u.queries, i % ${vectors}u);
  }
  // The score that is this invocation's.
  let row = lane / ${keys}u;
  let place = lane % ${keys}u;
  let x = row_number(block, row);
  let query = x % u.queries;
  let own_head = first_head + x / u.queries;
  let mask_at = mask_row(own_head, query);
  let first_seen = first_visible(sight, query);
  let visible = visible_keys(sight, query);

  let begin = max(split * split_keys, first_visible(sight, 0u));
  let end = min((split + 1u) * split_keys, visible_keys(sight, u.queries - 1u));
  let seen_by_all = visible_keys(sight, 0u);
  let hidden_from_some = first_visible(sight, u.queries - 1u);
  let member = lane % ${TEAM}u;
  let four = lane % ${vectors}u;
  let value_row = lane / ${vectors}u;
  var largest = LOWEST;
  var total = 0.0;
${repeat(rows, (r) => `  var o${r} = vec4f();`)}
  workgroupBarrier();

  for (var tile = begin; tile < end; tile += ${keys}u) {
    let count = min(${keys}u, end - tile);
    // What is read of V first is on its way together with K.
${repeat(atOnce, (i) => `    var entries${i} = read_v(v_head, tile + min(value_row + ${i * across}u, count - 1u), four);`)}
    if (lane < ${TEAM * keys}u) {
      // Beyond the last key it is read again, and not used.
      let key = min(tile + lane / ${TEAM}u, end - 1u);
${partsOfScores}
    }
    workgroupBarrier();
    let key = tile + place;
    let is_seen = (key >= first_seen) & (key < min(visible, end));
    var score = LOWEST;
    if (is_seen) {
      let at = row * ${TEAM * keys}u + place;
      let product = (numbers[at] + numbers[at + ${keys}u]) + (numbers[at + ${2 * keys}u] + numbers[at + ${3 * keys}u]);
      score = finish_score(u.scale * product, mask_at, key);
    }
    weights[lane] = score;
    workgroupBarrier();
    if (place < ${SHARERS}u) {
      var most = weights[lane];
      for (var i = ${SHARERS}u; i < ${keys}u; i += ${SHARERS}u) { most = larger(most, weights[lane + i]); }
      shared_values[row * ${SHARERS}u + place] = most;
    }
    workgroupBarrier();
    var now = largest;
    for (var i = 0u; i < ${SHARERS}u; i++) { now = larger(now, shared_values[row * ${SHARERS}u + i]); }
    let factor = exponential(largest - now);
    largest = now;
    let weight = select(0.0, exponential(score - now), is_seen);
    total = total * factor + weight;
    weights[lane] = weight;
    if (place == 0u) { row_values[row] = factor; }
    workgroupBarrier();
${repeat(rows, (r) => `    o${r} *= row_values[${r}];`)}
    let is_inner = (tile >= hidden_from_some) & (tile + count <= seen_by_all);
    for (var slot = value_row; slot < count; slot += ${atOnce * across}u) {
${repeat(atOnce, (i) => `      let slot${i} = slot + ${i * across}u;`)}
      if (slot != value_row) {
${repeat(atOnce, (i) => `        entries${i} = read_v(v_head, tile + min(slot${i}, count - 1u), four);`)}
      }
      if (is_inner) {
${repeat(atOnce, (i) =>
  repeat(
    rows,
    (r) =>
      `        o${r} += select(vec4f(), weights[${r * keys}u + min(slot${i}, count - 1u)] * entries${i}, slot${i} < count);`,
  ),
)}
      } else {
        // A weight of 0 does not hide a value that is infinite or NaN.
${repeat(
  rows,
  (r) => `        {
          let query = row_number(block, ${r}u) % u.queries;
          let visible_from = first_visible(sight, query);
          let visible_to = min(visible_keys(sight, query), tile + count);
${repeat(
  atOnce,
  (i) => `          {
            let value_key = tile + slot${i};
            let is_visible = (value_key >= visible_from) & (value_key < visible_to);
            o${r} += select(vec4f(), weights[${r * keys}u + min(slot${i}, count - 1u)] * entries${i}, is_visible);
          }`,
)}
        }`,
)}
      }
    }
  }

  workgroupBarrier();
  weights[lane] = total;
  workgroupBarrier();
  if (place < ${SHARERS}u) {
    var sum = weights[lane];
    for (var i = ${SHARERS}u; i < ${keys}u; i += ${SHARERS}u) { sum += weights[lane + i]; }
    shared_values[row * ${SHARERS}u + place] = sum;
  }
  workgroupBarrier();
  if (place == 0u) {
    var sum = 0.0;
    for (var i = 0u; i < ${SHARERS}u; i++) { sum += shared_values[row * ${SHARERS}u + i]; }
    row_values[row] = sum;
    row_largest[row] = largest;
  }
${repeat(
  rows,
  (r) => `  workgroupBarrier();
${repeat(4, (c) => `  numbers[${c * DECODE_LANES}u + lane] = o${r}[${c}];`)}
  workgroupBarrier();
  if ((lane < ${vectors}u) & (block * ${rows}u + ${r}u < u.group * u.queries)) {
    var value = vec4f();
    for (var i = lane; i < ${DECODE_LANES}u; i += ${vectors}u) {
      value += vec4f(numbers[i], numbers[${DECODE_LANES}u + i], numbers[${2 * DECODE_LANES}u + i], numbers[${3 * DECODE_LANES}u + i]);
    }
    let x = row_number(block, ${r}u);
    let query = x % u.queries;
    let head = first_head + x / u.queries;
    let at = ${partial ? 'u.o_at + ((split * u.heads + head) * u.queries + query) * u.o_row' : 'o_start(head) + query * u.o_row'};
${partial ? '' : `    let last = ${totalOf(form, `row_values[${r}]`, 'query')};`}
    if (4u * four < u.value_dim) {
${store}
    }
${
  partial
    ? `    if (lane == 0u) {
      o[at + u.value_dim] = row_largest[${r}];
      o[at + u.value_dim + 1u] = row_values[${r}];
    }`
    : ''
}
  }`,
)}
}`,
  });
});

type Rows = 1 | 4 | 8;
type Columns = 64 | 128 | 256;

/** Rows of O that share their keys at a time, and columns that there is room for. */
export const DECODE_ROWS: readonly Rows[] = [1, 4, 8];
export const DECODE_COLUMNS: readonly Columns[] = [64, 128, 256];

const ROWS_OF: ReadonlyMap<string, Rows> = new Map(DECODE_ROWS.map((rows) => [`attention/decode-${rows}`, rows]));

/** Queries that it is for: it reads all keys for each few. */
export const DECODE_QUERIES = 4;
/** Workgroups that keep a GPU reading: of some rows, and of one, which read more at once. */
const ENOUGH_READERS = 192;
const ENOUGH_ROW_READERS = 128;
/** Rows, and keys, up to which each row reads its keys by itself, from the cache that those before it filled: it waits less. */
const FEW_ROWS = 64;
const FEW_KEYS = 2048;
/** Keys of a split are a multiple of this, and at least as many. */
const LEAST_SPLIT = 64;
/** This many records are merged in one go: more splits than these have twice as many keys at least. */
const FEW_SPLITS = 8;

/** Attention of a few queries, for GPUs: what counts is how fast keys and values are read. */
export const decodeTable: AttentionTable = {
  ids: [...ROWS_OF.keys()],
  kernelsFor: (traits) =>
    DECODE_ROWS.flatMap((rows) => DECODE_COLUMNS.map((columns) => ({ rows, columns })))
      .filter(({ rows, columns }) => hasRoom(rows, columns, traits))
      .flatMap(({ rows, columns }) =>
        (['full', 'wide', 'any'] as const).flatMap((fit) =>
          formsOf((form) => rowsByFours(form, fit !== 'any')).flatMap(({ form, partial }) =>
            form === 'plain' ? [] : kernelOf(rows, columns, { form, fit, partial }),
          ),
        ),
      ),
  candidates: (sizes, traits) => {
    const variants = sizes.queries > DECODE_QUERIES ? [] : bestFirst(sizes, traits);
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 3 };
  },
  isForAny: true,
  splitKeys: () => LEAST_SPLIT,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const { sizes, splits, partial } = work;
    const { heads, queries, form, group } = sizes;
    const rows = shapeOf(ROWS_OF, variant);
    const columns = columnsFor(sizes) as Columns;
    const any = form === 'plain' ? 'f32' : form;
    recorder.launch({
      ...work.launch,
      kernel: kernelOf(rows, columns, { form: any, fit: fitOf(work, columns), partial }),
      groups: (heads / group) * Math.ceil((group * queries) / rows) * splits,
      ...(rows === 1 ? { grid: [splits, heads * queries, 1] } : {}),
      variant: variant.id,
    });
  },
};

function kernelOf(rows: Rows, columns: Columns, params: Omit<DecodeParams, 'tile'>): Kernel {
  return rows === 1 ? decodeRow({ columns, ...params }) : decode({ tile: { rows, columns }, ...params });
}

const columnsFor = (sizes: AttentionSizes): Columns | undefined =>
  DECODE_COLUMNS.find((max) => max >= columnsOf(sizes));

/** Returns whether a device has invocations and memory. */
function hasRoom(
  rows: Rows,
  columns: Columns,
  { isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits,
): boolean {
  const bytes = rows === 1 ? decodeRowBytes(columns) : decodeBytes({ rows, columns });
  return !isSoftware && DECODE_LANES <= maxInvocations && bytes <= maxWorkgroupBytes;
}

/** Rows by themselves where they are few; else those that waste no row first, and then those with more rows. */
function bestFirst(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, keys, group } = sizes;
  const columns = columnsFor(sizes);
  if (columns === undefined) return [];
  const shared = group * queries;
  const possible = DECODE_ROWS.filter(
    (rows) => hasRoom(rows, columns, traits) && (rows > 1 || heads * queries <= traits.maxWorkgroupsPerDimension),
  );
  const alone = heads * queries <= FEW_ROWS && keys <= FEW_KEYS ? possible.filter((rows) => rows === 1) : [];
  const enough = possible.filter((rows) => rows >= shared);
  const fewer = possible.filter((rows) => rows < shared).reverse();
  return [...new Set([...alone, ...enough, ...fewer])].map((rows) => {
    const groups = (heads / group) * Math.ceil(shared / rows);
    const worthwhile = Math.max(
      Math.min(FEW_SPLITS, Math.ceil(keys / LEAST_SPLIT)),
      Math.ceil(keys / (2 * LEAST_SPLIT)),
    );
    const readers = rows === 1 ? ENOUGH_ROW_READERS : ENOUGH_READERS;
    return { id: `attention/decode-${rows}`, splits: Math.min(Math.ceil(readers / groups), worthwhile) };
  });
}
