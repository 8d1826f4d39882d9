import { repeat } from '../wgsl/snippets.ts';

/** Source text for the filters' strip of a tile. */
interface FilterStrip {
  /** Declares the workgroup memory. */
  readonly memory: string;
  /** Declares what the reads need. */
  readonly declare: string;
  /** Reads a strip to registers: the one that begins at tap `p`. */
  readonly read: string;
  /** Puts the registers into `buffer` of workgroup memory: the strip that begins at tap `p`. */
  readonly store: string;
  /** Gets the invocation's vectors for tap p of the strip out of `buffer`. */
  fetch(p: number): string;
  /** Weight of the invocation's filter i at tap p. */
  value(i: number, p: number): string;
}

/** The options of {@link filterStrip}. */
interface FilterStripParams {
  /** Filters of the tile, and those of one invocation. */
  readonly filters: number;
  readonly each: number;
  readonly step: number;
  readonly threads: number;
  /** True if the taps are a whole number of iterations. */
  readonly isWhole: boolean;
  /** True if no read may go beyond the binding. */
  readonly isClamped: boolean;
}

/** Vectors that are left free after each tap, so that the taps of a filter lie in different banks. */
const PAD = 1;

/** Bytes of workgroup memory. */
export function filterStripBytes({ filters, step }: Pick<FilterStripParams, 'filters' | 'step'>): number {
  return 2 * step * (filters / 4 + PAD) * 16;
}

/**
 * Workgroup memory is `[buffer][tap][four filters]`. Vector g of an invocation is vector `g * lanes + lane_f` of the tile. In
 * memory the taps are neighbours: an invocation makes a vector of four reads, one of each filter, and neighbouring
 * invocations take neighbouring taps.
 */
export function filterStrip({ filters, step, threads, each, isWhole, isClamped }: FilterStripParams): FilterStrip {
  const reads = (filters * step) / 4 / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`${threads} do not share a strip of ${filters} x ${step} evenly`);
  const fetched = (g: number, p: number): string => `weights${g}_${p}`;
  const readAt = (at: string): string => `weights[${isClamped ? `min(${at}, arrayLength(&weights) - 1u)` : at}]`;
  // What is computed beyond the last filter is not stored.
  const rowOf = (index: number, i: number): string =>
    `min(first_filter + filter_four${index} * 4u + ${i}u, u.filters - 1u)`;
  return {
    memory: `var<workgroup> filter_tile: array<array<array<vec4f, ${filters / 4 + PAD}>, ${step}>, 2>;`,
    declare: `
  let first_weight = u.filter_at + group * u.filters * u.filter_stride;
${repeat(
  reads,
  (index) => `  let filter_tap${index} = (lane + ${index * threads}u) % ${step}u;
  let filter_four${index} = (lane + ${index * threads}u) / ${step}u;
${repeat(
  4,
  (i) => `  let weight_at${index}_${i} = first_weight + ${rowOf(index, i)} * u.filter_stride + filter_tap${index};`,
)}
  var weights${index} = vec4f();`,
)}`,
    read: repeat(
      reads,
      (index) =>
        `      weights${index} = vec4f(${[0, 1, 2, 3].map((i) => readAt(`weight_at${index}_${i} + p`)).join(', ')});`,
    ),
    store: repeat(reads, (index) => {
      const weights = isWhole ? `weights${index}` : `select(vec4f(), weights${index}, p + filter_tap${index} < end)`;
      return `      filter_tile[buffer][filter_tap${index}][filter_four${index}] = ${weights};`;
    }),
    fetch: (p) =>
      repeat(
        each / 4,
        (g) => `      let ${fetched(g, p)} = filter_tile[buffer][${p}][lane_f + ${(g * filters) / each}u];`,
      ),
    value: (i, p) => `${fetched(Math.floor(i / 4), p)}.${'xyzw'[i % 4]}`,
  };
}

/**
 * The way in which reads outside of the image are recognised. `sets`: each place has the set of the filter's rows and columns that lie outside,
 * in the bits of one number. `coordinates`: by comparison, for filters with more than {@link MAX_ROWS} rows or
 * {@link MAX_COLUMNS} columns. `none`: there are none, and the taps are a whole number of iterations.
 */
export type Padding = 'sets' | 'coordinates' | 'none';

/** Largest filter for `sets`. */
export const MAX_ROWS = 15;
export const MAX_COLUMNS = 16;

/** Source text for the patches' strip of a tile. */
interface InputStrip {
  /** Declares the workgroup memory, and functions. */
  readonly memory: string;
  /** Declares what the reads need. */
  readonly declare: string;
  /** Makes ready for the first reads. */
  readonly prepare: string;
  /** The code at the start of every second step, before the reads for the next. */
  readonly advance: string;
  /** Reads a strip to registers: the one that begins at tap `p`. */
  readonly read: string;
  /** Puts the registers into `buffer` of workgroup memory. */
  readonly store: string;
  /** Gets the invocation's vectors for tap p of the strip out of `buffer`. */
  fetch(p: number): string;
  /** Inputs of its places 4g .. 4g + 3 at tap p. */
  vector(g: number, p: number): string;
}

/** The options of {@link inputStrip}. */
interface InputStripParams {
  /** Places of the tile, and those of one invocation. */
  readonly places: number;
  readonly each: number;
  readonly step: number;
  readonly threads: number;
  readonly padding: Padding;
  /** True if no read may go beyond the binding. */
  readonly isClamped: boolean;
}

/** Bytes of workgroup memory, at most. */
export function inputStripBytes({
  places,
  step,
  threads,
}: Pick<InputStripParams, 'places' | 'step' | 'threads'>): number {
  return 2 * step * places * 4 + 2 * threads * TAPS.coordinates.bytes;
}

/**
 * Workgroup memory is `[buffer][tap][four places]`. The places of a vector are a quarter of the tile apart, so that
 * neighbouring invocations read and write neighbouring places. Vector g of an invocation is vector `g * lanes + lane_p`.
 *
 * What a tap means for an address costs divisions. It is worked out once per tap and workgroup, for as many taps at a
 * time as there are invocations, and kept in a table with room for twice as many.
 */
export function inputStrip({ places, step, threads, each, padding, isClamped }: InputStripParams): InputStrip {
  const vectors = places / 4;
  const tapsPerPass = threads / vectors;
  const reads = step / tapsPerPass;
  if (!Number.isInteger(reads)) throw new RangeError(`${threads} do not share a strip of ${places} x ${step} evenly`);
  const { type, functions } = TAPS[padding];
  const perPlace = (text: (j: number) => string): string => [0, 1, 2, 3].map(text).join(', ');
  const fetched = (g: number, p: number): string => `values${g}_${p}`;
  const isInside = (tap: string): string =>
    padding === 'sets'
      ? `(outside & vec4u(${tap}.y)) == vec4u()`
      : `vec4<bool>(${tap}.w == 1u) & (y + vec4u(${tap}.y) < vec4u(u.height)) & (x + vec4u(${tap}.z) < vec4u(u.width))`;
  const guarded = (index: number): string =>
    padding === 'none' ? `values${index}` : `select(vec4f(), values${index}, ${isInside(`tap${index}`)})`;
  const fillTable = (first: string): string =>
    `taps[(${first} - begin + lane) % ${2 * threads}u] = tap_at(${first} + lane, end);`;
  return {
    memory: /* wgsl */ `
var<workgroup> input_tile: array<array<array<vec4f, ${vectors}>, ${step}>, 2>;
var<workgroup> taps: array<${type}, ${2 * threads}>;
${functions}`,
    declare: /* wgsl */ `
  let place_vector = lane % ${vectors}u;
  let place_tap = lane / ${vectors}u;
${repeat(
  4,
  (j) => `  let index${j} = min(first_place + place_vector + ${j * vectors}u, places - 1u);
  let place${j} = place_at(index${j} / u.output_width, index${j} % u.output_width);`,
)}
  let input_at = vec4u(${perPlace((j) => `place${j}.input`)}) + group * u.input_group;
${padding === 'sets' ? `  let outside = vec4u(${perPlace((j) => `outside_of(place${j}.y, place${j}.x)`)});` : ''}
${
  padding === 'coordinates'
    ? `  let y = vec4u(${perPlace((j) => `place${j}.y`)});
  let x = vec4u(${perPlace((j) => `place${j}.x`)});`
    : ''
}
${repeat(reads, (index) => `  var tap${index} = ${type}();\n  var values${index} = vec4f();`)}`,
    prepare: `  ${fillTable('p')}\n  workgroupBarrier();`,
    advance: `    if ((p - begin) % ${threads}u == 0u) { ${fillTable(`(p + ${threads}u)`)} }`,
    read: repeat(
      reads,
      (index) => `      tap${index} = taps[(p - begin + place_tap + ${index * tapsPerPass}u) % ${2 * threads}u];
      {
        let anywhere = input_at + ${padding === 'none' ? `tap${index}` : `tap${index}.x`};
        let at = ${isClamped ? 'min(anywhere, vec4u(arrayLength(&input) - 1u))' : 'anywhere'};
        values${index} = vec4f(input[at.x], input[at.y], input[at.z], input[at.w]);
      }`,
    ),
    store: repeat(
      reads,
      (index) => `      input_tile[buffer][place_tap + ${index * tapsPerPass}u][place_vector] = ${guarded(index)};`,
    ),
    fetch: (p) =>
      repeat(
        each / 4,
        (g) => `      let ${fetched(g, p)} = input_tile[buffer][${p}][lane_p + ${(g * places) / each}u];`,
      ),
    vector: fetched,
  };
}

/** WGSL: what `sets` needs. */
export const SETS: string = /* wgsl */ `
// The elements from a place's corner to a tap, and the set of the tap's row and column.
fn tap_at(tap: u32, end: u32) -> vec2u {
  if (tap >= end) { return vec2u(0u, 1u << ${MAX_ROWS}u); }
  let s = tap % u.filter_width;
  let line = tap / u.filter_width;
  let r = line % u.filter_height;
  let at = (line / u.filter_height * u.height + r * u.dilation_h) * u.width + s * u.dilation_w;
  return vec2u(at, (1u << r) | (1u << (s + ${MAX_ROWS + 1}u)));
}

// The rows and columns of the filter that lie outside of the image, and the row that stands for taps beyond the end.
fn outside_of(y: u32, x: u32) -> u32 {
  var members = 1u << ${MAX_ROWS}u;
  for (var r = 0u; r < u.filter_height; r++) {
    if (y + r * u.dilation_h >= u.height) { members |= 1u << r; }
  }
  for (var s = 0u; s < u.filter_width; s++) {
    if (x + s * u.dilation_w >= u.width) { members |= 1u << (s + ${MAX_ROWS + 1}u); }
  }
  return members;
}`;

const COORDINATES = /* wgsl */ `
// The elements from a place's corner to a tap, its row and column from there, and whether it is one.
fn tap_at(tap: u32, end: u32) -> vec4u {
  let column = tap % u.filter_width * u.dilation_w;
  let line = tap / u.filter_width;
  let row = line % u.filter_height * u.dilation_h;
  let channel = line / u.filter_height;
  return vec4u((channel * u.height + row) * u.width + column, row, column, u32(tap < end));
}`;

const NONE = /* wgsl */ `
// The elements from a place's corner to a tap.
fn tap_at(tap: u32, end: u32) -> u32 {
  let line = tap / u.filter_width;
  let row = line / u.filter_height * u.height + line % u.filter_height * u.dilation_h;
  return row * u.width + tap % u.filter_width * u.dilation_w;
}`;

/** The content of the table for a tap. */
const TAPS: Readonly<Record<Padding, { readonly type: string; readonly bytes: number; readonly functions: string }>> = {
  sets: { type: 'vec2u', bytes: 8, functions: SETS },
  coordinates: { type: 'vec4u', bytes: 16, functions: COORDINATES },
  none: { type: 'u32', bytes: 4, functions: NONE },
};
