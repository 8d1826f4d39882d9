import { repeat } from '../wgsl/snippets.ts';
import { elementAt, type Form, numbersOf, rowOf, storageOf, storedVector, totalOf, widthOf } from './form.wgsl.ts';
import type { AttentionWork } from './table.ts';

// The parts of `flash`, some of which `decode`, `matrix` and `tiled` have too.

/** Shape of a workgroup's work. */
export interface FlashTile {
  /** Queries of a workgroup, 8 an invocation; a multiple of 32. */
  readonly queries: number;
  /** Keys of a tile. */
  readonly keys: number;
  /** Largest head dimension, a multiple of `keys`: the columns of O that a workgroup keeps. */
  readonly columns: number;
  /** Invocations that share a row, 8 or 16: each has `keys / across` of the keys and `columns / across` of the columns. */
  readonly across: number;
  /** Columns of Q and K that are in workgroup memory at a time. */
  readonly depth: number;
  /** Rows of V, and weights of a query, that are in workgroup memory at a time; a multiple of `across`. */
  readonly chunk: number;
  /** Iterations of the inner loops that are unrolled; divides `depth`, `chunk` and `across`. */
  readonly unroll: number;
  /** Reads to registers, before the arithmetic, what is needed next. */
  readonly ahead: boolean;
}

/**
 * The known facts about the rows. `full`: there are as many columns, of V too, as the tile has, and rows begin at multiples of four.
 * `wide`: only that they begin and end at multiples of four. `any`: nothing.
 */
export type Fit = 'full' | 'wide' | 'any';

/** The parameters that distinguish the `flash` kernels. */
export interface FlashParams {
  readonly tile: FlashTile;
  readonly fit: Fit;
  readonly form: Form;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Parts of a vector. */
export const COMPONENTS = ['x', 'y', 'z', 'w'] as const;

/** Vectors that are left free after each row in workgroup memory, so that those of a column lie in different banks. */
export const PAD = 1;

/** Queries of an invocation. */
export const ROWS = 8;

/** Invocations in a workgroup. */
export const flashLanes = ({ queries, across }: FlashTile): number => (queries / ROWS) * across;

/** Bytes of workgroup memory. */
export function flashBytes(tile: FlashTile): number {
  const { rows, stage } = panelsOf(tile);
  return 16 * tile.unroll * (rows * (tile.queries / 4 + PAD) + stage * (tile.keys / 4 + PAD));
}

/** Lengths of the arrays in workgroup memory, in panels of `unroll` rows. */
export interface Panels {
  readonly rows: number;
  readonly stage: number;
}

/** The arrays that a tile takes. */
export function panelsOf({ keys, columns, across, depth, chunk, unroll }: FlashTile): Panels {
  return {
    rows: Math.max(depth, chunk, across) / unroll,
    stage: Math.max(depth, (columns / keys) * chunk) / unroll,
  };
}

/** The fit of a launch for a kernel with as many columns. */
export const fitOf = ({ wide, sizes: { headDim, valueDim } }: AttentionWork, columns: number): Fit =>
  wide ? (Math.min(headDim, valueDim) === columns ? 'full' : 'wide') : 'any';

/** WGSL of which keys the queries of an invocation see, two vectors of four queries. */
export interface Visibility {
  /** Declares how far they see. */
  readonly visible: string;
  /** Returns whether keys, a vector of them, are seen by query `x` of vector g. */
  readonly isSeen: (keys: string, g: number, x: string) => string;
  /** The same of the one key `key`. */
  readonly isRowSeen: (g: number, x: string) => string;
}

/** Calls of any form but `plain` may hide keys in front of those that are seen, too. */
export function visibility(form: Form): Visibility {
  if (form === 'plain') {
    return {
      visible: repeat(2, (g) => `      let visible${g} = visible_to_four(query${g});`),
      isSeen: (keys, g, x) => `${keys} < vec4u(visible${g}.${x})`,
      isRowSeen: (g, x) => `key < visible${g}.${x}`,
    };
  }
  return {
    visible: repeat(
      2,
      (g) =>
        `      let visible${g} = visible_to_four(sight, query${g});\n      let first${g} = first_to_four(sight, query${g});`,
    ),
    isSeen: (keys, g, x) => `(${keys} >= vec4u(first${g}.${x})) & (${keys} < vec4u(visible${g}.${x}))`,
    isRowSeen: (g, x) => `(key >= first${g}.${x}) & (key < visible${g}.${x})`,
  };
}

/** WGSL: functions for any call, of four queries or keys. */
export const byFours: string = /* wgsl */ `
fn first_to_four(sight: Sight, query: u32) -> vec4u {
  return vec4u(first_visible(sight, query), first_visible(sight, query + 1u), first_visible(sight, query + 2u), first_visible(sight, query + 3u));
}

fn finish_scores(scores: vec4f, row: u32, key: vec4u) -> vec4f {
  return vec4f(
    finish_score(scores.x, row, key.x),
    finish_score(scores.y, row, key.y),
    finish_score(scores.z, row, key.z),
    finish_score(scores.w, row, key.w),
  );
}`;

/**
 * WGSL: `read_q`, `read_k`, `read_v`: four neighbouring elements of a row; zeros beyond its end. They are two steps: `raw_k` reads,
 * `numbers_k` converts what it read. A kernel that reads ahead keeps it raw, as a conversion would wait for the memory.
 */
export function readFunctions(fit: Fit, form: Form): string {
  return (['q', 'k', 'v'] as const).map((name) => readFunction(name, fit, form)).join('\n');
}

function readFunction(name: 'q' | 'k' | 'v', fit: Fit, form: Form): string {
  const row = rowOf(form, name);
  const isRaw = fit !== 'any' && storageOf(form, name) !== 'f32';
  const raw = isRaw ? 'vec2u' : 'vec4f';
  const vector = `${name}[(head + row * ${row}) / 4u + four]`;
  const body = {
    full: `return ${vector};`,
    wide: `if (4u * four >= ${widthOf(name)}) { return ${raw}(); }
  return ${vector};`,
    any: `var value = vec4f();
  let at = head + row * ${row} + 4u * four;
${repeat(4, (c) => `  if (4u * four + ${c}u < ${widthOf(name)}) { value[${c}] = ${elementAt(form, name, `at + ${c}u`)}; }`)}
  return value;`,
  }[fit];
  return `fn raw_${name}(head: u32, row: u32, four: u32) -> ${raw} {
  ${body}
}
fn numbers_${name}(raw: ${raw}) -> vec4f { return ${isRaw ? numbersOf(form, name, 'raw') : 'raw'}; }
fn read_${name}(head: u32, row: u32, four: u32) -> vec4f { return numbers_${name}(raw_${name}(head, row, four)); }`;
}

/** Source text that brings a piece of an operand from memory to registers, and from there to workgroup memory. */
export interface Stage {
  /** Number of registers, vectors of four. */
  readonly registers: number;
  /** Reads to registers, those from `x<register>` on. */
  fetch(register: number, at: { readonly row: string; readonly column: string }): string;
  store(register: number): string;
}

/** The options of {@link stageTransposed}. */
interface TransposedParams {
  readonly name: 'q' | 'k';
  readonly rows: number;
  readonly depth: number;
  readonly unroll: number;
  readonly lanes: number;
  /** WGSL: the last row that there is. */
  readonly last: string;
}

/**
 * Brings columns of Q to `rows_tile`, or of K to `stage`, as `[column / 8][column % 8][four rows]`. Each invocation reads
 * squares of 4 x 4; eight neighbouring invocations take 2 x 4 of them, and so write to all banks together.
 */
export function stageTransposed({ name, rows, depth, unroll, lanes, last }: TransposedParams): Stage {
  const memory = name === 'q' ? 'rows_tile' : 'stage';
  const squares = (rows * depth) / 16;
  const count = Math.ceil(squares / lanes);
  const each = (line: (index: number) => string): string =>
    repeat(count, (index) => {
      const isLast = (index + 1) * lanes > squares;
      return `      ${isLast ? `if (lane < ${squares - index * lanes}u) ` : ''}{
        let slot = lane + ${index * lanes}u;
        let four = slot % 2u + 2u * (slot / 8u % ${depth / 8}u);
        let row_four = (slot / 2u % 4u) + 4u * (slot / 8u / ${depth / 8}u);
${line(index)}
      }`;
    });
  return {
    registers: 4 * count,
    fetch: (register, { row, column }) =>
      each(
        (index) => `        let row = ${row} + 4u * row_four;
${repeat(4, (c) => `        x${register + 4 * index + c} = read_${name}(${name}_head, min(row + ${c}u, ${last}), (${column}) / 4u + four);`)}`,
      ),
    store: (register) =>
      each((index) =>
        repeat(4, (c) => {
          const values = [0, 1, 2, 3].map((i) => `x${register + 4 * index + i}[${c}]`).join(', ');
          return `        ${memory}[four / ${unroll / 4}u][4u * (four % ${unroll / 4}u) + ${c}u][row_four] = vec4f(${values});`;
        }),
      ),
  };
}

/** The options of {@link stageRows}. */
interface RowsParams {
  readonly rows: number;
  /** Vectors in a row of `stage`, and in a row of V. */
  readonly width: number;
  readonly vectors: number;
  readonly unroll: number;
  readonly lanes: number;
  readonly across: number;
}

/** Brings rows of V to `stage`, as `[columns / width][slot / unroll][slot % unroll][width]`; {@link keyOfSlot} has their order. */
export function stageRows({ rows, width, vectors, unroll, lanes, across }: RowsParams): Stage {
  const step = lanes / vectors;
  if (across % step !== 0) throw new RangeError(`${lanes} invocations do not share ${rows} rows of V`);
  const count = rows / step;
  const each = (line: (index: number) => string): string =>
    repeat(count, (index) => `      {\n${line(index)}\n      }`);
  return {
    registers: count,
    fetch: (register, { row, column }) => `      {
        let first_key = ${row} + ${keyOfSlot(column, across)} + lane / ${vectors}u * 4u;
${repeat(count, (index) => {
  const key = `first_key + ${4 * ((index * step) % across) + Math.floor((index * step) / across)}u`;
  return `        x${register + index} = read_v(v_head, min(${key}, u.keys - 1u), lane % ${vectors}u);`;
})}
      }`,
    store: (register) =>
      each(
        (index) => `        let row = lane / ${vectors}u + ${index * step}u;
        let four = lane % ${vectors}u;
        stage[four / ${width}u * ${rows / unroll}u + row / ${unroll}u][row % ${unroll}u][four % ${width}u] = x${register + index};`,
      ),
  };
}

/**
 * WGSL: the key, counted from the tile's first, of a slot. An invocation's keys are `across` slots apart, and neighbours by
 * fours.
 */
export function keyOfSlot(slot: string, across: number): string {
  return `(${slot} % ${across}u * 4u + ${slot} / ${4 * across}u * ${4 * across}u + ${slot} / ${across}u % 4u)`;
}

/** Returns whether O is bound as vectors of four; records are not. */
export const isWideOutput = ({ fit, partial }: Pick<FlashParams, 'fit' | 'partial'>): boolean =>
  fit !== 'any' && !partial;

/** WGSL: needs `quotient`. */
export const quotients: string = /* wgsl */ `
fn quotients(sums: vec4f, total: f32) -> vec4f {
  return vec4f(quotient(sums.x, total), quotient(sums.y, total), quotient(sums.z, total), quotient(sums.w, total));
}`;

/**
 * WGSL: stores a vector of a row that begins at `at`, divided by its sum of weights, or undivided in a record; needs
 * {@link quotients}.
 *
 * @param four - number of the vector in its row; where vectors are stored whole, the caller checks that the row has it
 */
export function storeFour(
  { fit, form, partial }: Pick<FlashParams, 'fit' | 'form' | 'partial'>,
  { value, four, total }: { readonly value: string; readonly four: string; readonly total: string },
): string {
  if (isWideOutput({ fit, partial })) {
    return `    o[at / 4u + ${four}] = ${storedVector(form, `quotients(${value}, ${total})`)};`;
  }
  const numberOf = (c: number): string => (partial ? `${value}[${c}]` : `quotient(${value}[${c}], ${total})`);
  return repeat(
    4,
    (c) => `    if (4u * ${four} + ${c}u < u.value_dim) { o[at + 4u * ${four} + ${c}u] = ${numberOf(c)}; }`,
  );
}

/** WGSL: the end of `flash`, which divides the sums of an invocation's rows and stores them, or stores records. */
export function storeOutput({ tile, fit, form, partial }: FlashParams): string {
  const { columns, across } = tile;
  const storeVector = (i: number, total: string, j: number): string => {
    const four = `(lane_column + ${across * j}u)`;
    const store = storeFour({ fit, form, partial }, { value: `o${i}_${j}`, four, total });
    return fit === 'wide' && !partial ? `    if (4u * ${four} < u.value_dim) { ${store} }` : store;
  };
  const storeRow = (i: number): string => {
    const g = Math.floor(i / 4);
    const component = COMPONENTS[i % 4] as string;
    const extra = `
    if (lane_column == 0u) {
      o[at + u.value_dim] = largest${g}.${component};
      o[at + u.value_dim + 1u] = total${g}.${component};
    }`;
    const query = `query${g} + ${i % 4}u`;
    // Rows of O have separate places, records are packed.
    const isOwn = form !== 'plain' && !partial;
    const at = isOwn ? `o_start(head) + (${query}) * u.o_row` : `u.o_at + (row_at + ${query}) * u.o_row`;
    const total = isOwn ? `last${i}` : `total${g}.${component}`;
    return `  if (${query} < u.queries) {
    let at = ${at};${isOwn ? `\n    let last${i} = ${totalOf(form, `total${g}.${component}`, query)};` : ''}
${repeat(columns / across / 4, (j) => storeVector(i, total, j))}${partial ? extra : ''}
  }`;
  };
  return `  let row_at = (split * u.heads + head) * u.queries;
${repeat(ROWS, storeRow)}`;
}
