import type { Candidates, NamedVariant } from '@concord/variants';
import { repeat } from '../wgsl/snippets.ts';
import type { DeviceTraits } from '../recorder.ts';
import type { StoreInPlace } from './storage-formats.ts';

/** Shape of a workgroup's tile on the matrix units of a GPU ("tensor cores"). */
export interface MatrixTile {
  /** Entries of C along m and along n: powers of two. */
  readonly m: number;
  readonly n: number;
  /** Rows and columns of C that one subgroup computes. */
  readonly piece: 32 | 64;
}

/** Invocations of a subgroup. */
export const SUBGROUP = 32;
/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;
/** Elements of a vector: 16 bytes of binary16. */
export const VECTOR = 8;
/** Terms that are in workgroup memory at a time: two strips of {@link UNIT}. */
export const STEP = 32;
/** WGSL: a loop over the steps from `begin` to before `end`. Counted down to nothing, as Dawn guards the end of other loops. */
export const EACH_STEP: string = `for (var left = (max(begin, end) - begin + ${STEP - 1}u) / ${STEP}u; left > 0u; left--)`;
/** Banks of workgroup memory, of a vector each. */
const BANKS = 8;

/** Invocations of a workgroup. */
export function matrixInvocations(tile: MatrixTile): number {
  return subgroupsOf(tile) * SUBGROUP;
}

function subgroupsOf({ m, n, piece }: MatrixTile): number {
  return (m / piece) * (n / piece);
}

/**
 * Vectors of a line of workgroup memory: with a free one, so that the same vector of eight neighbouring lines lies in different
 * banks.
 */
export function lineVectors({ piece }: MatrixTile): number {
  return piece / VECTOR + 1;
}

/**
 * Vectors of a block, such that it is half of the banks away from the next where a line is half of the banks, as eight
 * invocations store two.
 */
export function blockVectors(tile: MatrixTile): number {
  return UNIT * lineVectors(tile) + (tile.piece === 32 ? BANKS / 2 : 1);
}

/**
 * Blocks of a strip: one for each piece of A, then of B, and perhaps a free one, such that two strips are half of the banks apart: a
 * row is stored to both at a time.
 */
export function stripBlocks(tile: MatrixTile): number {
  const blocks = (tile.m + tile.n) / tile.piece;
  return (blocks * blockVectors(tile)) % BANKS === BANKS / 2 ? blocks : blocks + 1;
}

/** Blocks of workgroup memory: two strips, and at the end 16 rows of sums of each subgroup in two. */
function blocksOf(tile: MatrixTile): number {
  return 2 * Math.max(stripBlocks(tile), subgroupsOf(tile));
}

/** Bytes of workgroup memory. */
function matrixBytes(tile: MatrixTile): number {
  return 16 * blockVectors(tile) * blocksOf(tile);
}

/**
 * The tiles that a device has matrix units and room for.
 *
 * @param more - bytes of workgroup memory that a kernel needs besides
 */
export function tilesOnUnits<Tile extends MatrixTile>(
  tiles: Iterable<Tile>,
  { matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes }: DeviceTraits,
  more = 0,
): readonly Tile[] {
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  if (!fits) return [];
  return [...tiles].filter(
    (tile) => matrixInvocations(tile) <= maxInvocations && matrixBytes(tile) + more <= maxWorkgroupBytes,
  );
}

/** A tile and its costs: microseconds as measured on an H100, of which only the ratios matter. */
export interface RatedMatrixTile extends MatrixTile {
  /** The time of a workgroup besides its steps. */
  readonly start: number;
  /** A step of each workgroup where the GPU has as many as it has room for. */
  readonly each: number;
}

/** The work of a tile. */
interface WorkOnUnits extends NamedVariant {
  readonly tiles: number;
  readonly terms: number;
  /** Entries of all tiles. */
  readonly entries: number;
}

/** Workgroups that a large GPU has room for at a time, and those of 64 x 64. */
const ROOM = 264;
const ROOM_SMALL = 396;
/** The part of its time that a step takes where half of the room is empty. */
const ALONE = 0.8;
/** The time to add up the results of splits: of a launch, and of an entry of each. */
const FINISH = 3;
const FINISH_ENTRY = 1.9e-6;

/**
 * The variants of tiles, each with the best split of its terms, and the best of them; undefined without tiles.
 *
 * @param least - terms of a split
 */
export function bestOnUnits(
  tiles: readonly RatedMatrixTile[],
  least: number,
  workOf: (tile: RatedMatrixTile) => WorkOnUnits,
): Candidates<NamedVariant & { readonly splits: number }> | undefined {
  const offers = tiles.map((tile) => {
    const work = workOf(tile);
    const room = tile.m * tile.n > 64 * 64 ? ROOM : ROOM_SMALL;
    const most = Math.max(1, Math.min(Math.floor(room / work.tiles), Math.floor(work.terms / least)));
    const costs = Array.from({ length: most }, (_, more) => costOf(tile, work, room, more + 1));
    const cost = Math.min(...costs);
    return { variant: { id: work.id, splits: costs.indexOf(cost) + 1 }, cost };
  });
  const [first] = offers;
  if (first === undefined) return undefined;
  const best = offers.reduce((before, offer) => (offer.cost < before.cost ? offer : before), first);
  return { variants: offers.map(({ variant }) => variant), preferred: best.variant };
}

function costOf(tile: RatedMatrixTile, { tiles, terms, entries }: WorkOnUnits, room: number, splits: number): number {
  const groups = tiles * splits;
  const step = groups <= room / 2 ? ALONE * tile.each : tile.each;
  const finish = splits === 1 ? 0 : FINISH + FINISH_ENTRY * entries * splits;
  return Math.ceil(groups / room) * (tile.start + Math.ceil(terms / splits / STEP) * step) + finish;
}

/**
 * The vectors of an operand that an invocation brings, of those of a step of rows (columns). `along k`: neighbours in memory are
 * neighbours along k, and four invocations bring a row. `across k`: neighbours in memory are of one term. `gathered`: neighbouring
 * invocations bring neighbouring rows of one vector along k.
 */
export type MatrixOrder = 'along k' | 'across k' | 'gathered';

/** A vector of an operand: the row (column) and the term of its first element, and its place in workgroup memory. */
export interface VectorPlace {
  readonly row: number;
  readonly term: number;
  readonly block: number;
  /** Vectors from the start of the block. */
  readonly at: number;
}

/** The options of {@link operandStrips}. */
interface OperandStripsParams {
  readonly name: 'a' | 'b';
  readonly tile: MatrixTile;
  readonly order: MatrixOrder;
}

/** Source text for the strips of one operand of a tile. */
export interface OperandStrips {
  /** Vectors that each invocation brings. */
  readonly reads: number;
  /** The vector that an invocation brings with a read: a sum of parts by the bits of its number and of the read's. */
  readonly placeOf: (read: number, lane: number) => VectorPlace;
  /** Declares the place of the first read, and a register for each. */
  readonly declare: string;
  /** The register of a read. */
  readonly register: (read: number) => string;
  /** The row (column) in the tile, or the term in the step, of a read. */
  readonly place: (what: 'row' | 'term', read: number) => string;
  /** Puts the registers into workgroup memory. */
  readonly store: string;
  /** Loads the matrix at row (column) `at` of the subgroup's piece, of the strip that begins at block `place`. */
  load(at: number): string;
}

/**
 * A strip has {@link UNIT} terms, and lies in workgroup memory in blocks, each a separate array: of matrices at constant places in
 * an array no check of bounds is needed. A block has the rows (columns) of a subgroup's piece in 16 lines. In a block lines are as
 * in storage: where neighbours along k are neighbours, a line has the terms of a row and of each sixteenth after it, else the columns
 * of a term. Vectors of 16 bytes stay the bits that they are.
 *
 * Reads cost by the pieces of 128 bytes that the invocations of a subgroup touch at a time: along k four invocations read 64
 * bytes of a row, across k eight read 128 of a term. Each eight write to different banks.
 */
export function operandStrips({ name, tile, order }: OperandStripsParams): OperandStrips {
  const { m, n, piece } = tile;
  const size = name === 'a' ? m : n;
  const threads = matrixInvocations(tile);
  const reads = (size * STEP) / VECTOR / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} is not shared by ${threads} evenly`);
  const line = lineVectors(tile);
  const blocks = stripBlocks(tile);
  const firstBlock = name === 'a' ? 0 : m / piece;
  const alongK = order !== 'across k';
  const placeAlong = (row: number, vector: number): VectorPlace => ({
    row,
    term: vector * VECTOR,
    block: (vector >> 1) * blocks + firstBlock + Math.floor(row / piece),
    at: (row % UNIT) * line + ((row % piece) >> 4) * 2 + (vector & 1),
  });
  const placeAcross = (term: number, column: number): VectorPlace => ({
    row: column,
    term,
    block: (term >> 4) * blocks + firstBlock + Math.floor(column / piece),
    at: (term % UNIT) * line + (column % piece) / VECTOR,
  });
  const placeOf = (read: number, lane: number): VectorPlace => {
    const slot = read * threads + lane;
    const bit = (index: number): number => (slot >> index) & 1;
    if (order === 'gathered') return placeAlong(slot % size, Math.floor(slot / size));
    if (alongK) return placeAlong((slot >> 5) * 8 + bit(4) * 4 + bit(2) * 2 + bit(3), slot & 3);
    return placeAcross(Math.floor(slot / (size / VECTOR)), (slot % (size / VECTOR)) * VECTOR);
  };
  const ofLane = (what: keyof VectorPlace): string => {
    const base = placeOf(0, 0)[what];
    const bits = Array.from(
      { length: Math.log2(threads) },
      (_, bit) => [bit, placeOf(0, 1 << bit)[what] - base] as const,
    );
    const parts = bits.flatMap(([bit, weight]) => (weight === 0 ? [] : `extractBits(lane, ${bit}u, 1u) * ${weight}u`));
    return [`${base}u`, ...parts].join(' + ');
  };
  const more = (what: keyof VectorPlace, read: number): string =>
    `${name}_${what} + ${placeOf(read, 0)[what] - placeOf(0, 0)[what]}u`;
  const register = (read: number): string => `${name}_next${read}`;
  const kind = name === 'a' ? 'subgroup_matrix_left' : 'subgroup_matrix_right';
  const major = (name === 'a') === alongK ? 'row' : 'col';
  return {
    reads,
    placeOf,
    declare: `${(['row', 'term', 'block', 'at'] as const).map((what) => `  let ${name}_${what} = ${ofLane(what)};`).join('\n')}
${repeat(reads, (read) => `  var ${register(read)} = vec4u();`)}`,
    register,
    place: (what, read) => `(${more(what, read)})`,
    store: repeat(reads, (read) => `    strips[${more('block', read)}][${more('at', read)}] = ${register(read)};`),
    load: (at) =>
      `subgroupMatrixLoad<${kind}<f16, ${UNIT}, ${UNIT}>, ${major}_major>(&strips[place + ${firstBlock}u + ${
        name === 'a' ? 'piece_row' : 'piece_column'
      }], ${(at / UNIT) * 2}u, ${line}u)`,
  };
}

/** Source text of a store that reads first: of the row that is named, by names of its own. */
export type LongStore = (row: string, prefix: string) => Pick<StoreInPlace, 'loads' | 'store'>;

/** Source text of a tile's arithmetic, with the strips of A and B as {@link operandStrips} has them. */
export interface TileOnUnits {
  readonly memory: string;
  /** Declares the subgroup's piece, and its sums. */
  readonly declare: string;
  /** Adds the products of a step. */
  readonly products: string;
  /**
   * Gives the sums, 16 rows at a time: `row` becomes WGSL for the row in the tile, of which `store` stores a unit of `width` neighbours.
   *
   * @param prepare - at column `column` of the tile, before its rows
   * @param store - where it reads too, what it reads is read for two rows before the first is stored
   */
  storeSums(width: 1 | 4, prepare: string, store: string | LongStore): string;
}

/** See {@link TileOnUnits}. */
export function tileOnUnits(tile: MatrixTile, a: OperandStrips, b: OperandStrips): TileOnUnits {
  const { n, piece } = tile;
  const line = lineVectors(tile);
  const blocks = stripBlocks(tile);
  const matrices = piece / UNIT;
  const each = (text: (i: number, j: number) => string): string =>
    repeat(matrices, (j) => repeat(matrices, (i) => text(i, j)));
  /** Vectors of sums of a line of a block. */
  const sums = piece / VECTOR;
  return {
    memory: `var<workgroup> strips: array<array<vec4u, ${blockVectors(tile)}>, ${blocksOf(tile)}>;`,
    declare: `  let subgroup = lane / ${SUBGROUP}u;
  let piece_row = subgroup / ${n / piece}u;
  let piece_column = subgroup % ${n / piece}u;
${each((i, j) => `  var c${i}_${j} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`)}`,
    // A loop, so that reads do not go after the products where bounds are not checked.
    products: `    for (var strip = 0u; strip < ${STEP / UNIT}u; strip++) {
      let place = strip * ${blocks}u;
${repeat(matrices, (i) => `      let a${i} = ${a.load(i * UNIT)};`)}
${repeat(matrices, (j) => `      let b${j} = ${b.load(j * UNIT)};`)}
${each((i, j) => `      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});`)}
    }`,
    storeSums: (width, prepare, store) => {
      const units = piece / width;
      const by = Math.max(1, SUBGROUP / units);
      const inLoop = (step: string, body: string): string =>
        `for (var line = first_line; line < ${UNIT}u; line += ${step}) {\n${body}\n    }`;
      const rowOf = (i: number, line: string): string => `piece_row * ${piece}u + ${i * UNIT}u + ${line}`;
      const sumOf = (at: string): string =>
        `bitcast<vec4f>(strips[subgroup * 2u + four / ${sums}u][${at} * ${line}u + four % ${sums}u])${width === 1 ? '[unit % 4u]' : ''}`;
      const stored = (i: number): string => {
        if (typeof store === 'string') {
          const body = (line: string): string =>
            `      let row = ${rowOf(i, line)};\n      let sum = ${sumOf(line)};\n      ${store}`;
          // Unrolled where that is short.
          if (width === 1) return inLoop(`${by}u`, body('line'));
          return repeat(UNIT / by, (at) => `{\n${body(`(first_line + ${at * by}u)`)}\n    }`);
        }
        const both = ['line', `(line + ${by}u)`].map((line, at) => ({ line, at, ...store(`row${at}`, `e${at}_`) }));
        // A step that is no constant, not to be unrolled: long code takes longer to be read than to run.
        return inLoop(
          `${2 * by}u + u.zero`,
          [
            ...both.map(({ line, at, loads }) => `      let row${at} = ${rowOf(i, line)};\n${loads}`),
            ...both.map((each) => `      {\n        let sum = ${sumOf(each.line)};\n${each.store}\n      }`),
          ].join('\n'),
        );
      };
      return repeat(
        matrices,
        (i) => /* wgsl */ `
${repeat(matrices, (j) => `  subgroupMatrixStore<row_major>(&strips[subgroup * 2u + ${Math.floor((4 * j) / sums)}u], ${(4 * j) % sums}u, c${i}_${j}, ${line}u);`)}
  workgroupBarrier();
  for (var unit = lane % ${Math.min(SUBGROUP, units)}u; unit < ${units}u; unit += ${SUBGROUP}u) {
    let four = unit / ${4 / width}u;
    let column = piece_column * ${piece}u + unit * ${width}u;
    let first_line = lane % ${SUBGROUP}u / ${units}u;
${prepare}
    ${stored(i)}
  }
  workgroupBarrier();`,
      );
    },
  };
}
