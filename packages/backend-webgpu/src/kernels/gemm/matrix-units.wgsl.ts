import { shapeOf } from '@concord/variants';
import { repeat, storeC } from '../wgsl/snippets.ts';
import { mainOf } from '../kernel.ts';
import {
  launchTiles,
  nameOf,
  type OperandParams,
  PART_OF_GROUP,
  PRODUCT_UNIFORMS,
  productKernel,
  type TileLaunch,
} from './product-kernel.ts';
import { DTYPES, outputType, storeFunction } from './storage-formats.ts';
import type { DeviceTraits } from '../recorder.ts';
import {
  areFours,
  bindMatrix,
  isVector,
  type Matrix,
  type Product,
  type ProductTable,
  type Variant,
} from './product.ts';

/** Shape of a workgroup's tile. */
interface MatrixUnitsTile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time: two strips. */
  readonly step: 32;
  /** Entries of C that one subgroup computes, along m and along n: multiples of {@link BLOCK}. */
  readonly subgroupM: number;
  readonly subgroupN: number;
}

/** The known facts about the shape. `full`: all sizes are multiples of the tile's. `edges`: not that. */
type MatrixUnitsFit = 'full' | 'edges';

/** Invocations of a subgroup. */
const SUBGROUP = 32;

/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;
/** Elements of a vector: 16 bytes of binary16. */
export const VECTOR = 8;

/**
 * Workgroup memory is made of blocks: {@link UNIT} lines of four vectors and a free one, so that the same vector of eight
 * neighbouring lines lies in different banks, and four more, so that neighbouring blocks do. A block has two matrices of binary16
 * side by side, or one of sums. As a separate array, of which matrices lie at constant places, it needs no check of bounds.
 */
const BLOCK = 32;
export const LINE = 5;
export const BLOCK_VECTORS: number = UNIT * LINE + 4;

/** Blocks of a strip of A and one of B. */
function stripBlocks({ m, n }: Pick<MatrixUnitsTile, 'm' | 'n'>): number {
  return (m + n) / BLOCK;
}

/** Invocations of a workgroup. */
function matrixUnitsInvocations({ m, n, subgroupM, subgroupN }: MatrixUnitsTile): number {
  return (m / subgroupM) * (n / subgroupN) * SUBGROUP;
}

/** Blocks of workgroup memory: two strips, and at the end as many sums as a subgroup has along n. */
function blocksOf(tile: MatrixUnitsTile): number {
  const subgroups = matrixUnitsInvocations(tile) / SUBGROUP;
  return Math.max(2 * stripBlocks(tile), (subgroups * tile.subgroupN) / UNIT);
}

/** Bytes of workgroup memory. */
function matrixUnitsBytes(tile: MatrixUnitsTile): number {
  return 16 * BLOCK_VECTORS * blocksOf(tile);
}

/** The options of {@link matrixUnitsSide} for one operand. */
interface MatrixUnitsSideParams {
  readonly name: 'a' | 'b';
  /** WGSL: rows of op(A), or columns of op(B). */
  readonly count: string;
  /** Rows (columns) of the tile, and of the piece of it that a subgroup takes. */
  readonly size: number;
  readonly piece: number;
  /** True if neighbours in memory are neighbours along k. */
  readonly alongK: boolean;
  readonly threads: number;
  readonly fit: MatrixUnitsFit;
}

/** Source text for one operand's strips of a tile: {@link UNIT} terms each. */
interface MatrixUnitsSide {
  /** Declares what the reads need; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Declares a set of registers for a strip. */
  declareSet(set: number): string;
  /** Reads the strip that begins at term `p` to a set. */
  read(set: number): string;
  /** Moves on to the next strip, if there is one. */
  advance(condition: string): string;
  /** Puts a set into workgroup memory, from a block on. */
  store(set: number, place: number): string;
  /** Loads the matrix at row (column) `at` of piece `number` of the strip that begins at block `place`. */
  load(at: number, number: string, place: string): string;
}

/**
 * A strip lies in workgroup memory in blocks of 32 rows (columns). In a block lines are as in storage: where neighbours in memory
 * are neighbours along k, a line has the terms of a row and of the sixteenth after it, else 32 columns of a term. It is copied by
 * vectors of 16 bytes, which stay the bits that they are.
 *
 * Eight invocations write to workgroup memory at a time: to four lines that are two apart, or to one of two blocks, which are in
 * different banks.
 */
export function matrixUnitsSide(params: MatrixUnitsSideParams): MatrixUnitsSide {
  const { name, count, size, piece, alongK, threads, fit } = params;
  const reads = (size * UNIT) / VECTOR / threads;
  if (!Number.isInteger(reads)) throw new RangeError(`a strip of ${size} is not shared by ${threads} evenly`);
  const each = (line: (index: number) => string): string => repeat(reads, line);

  /** Declares for one vector that an invocation brings: its place in the strip and in memory. */
  const declareRead = (i: number): string => {
    const slot = `${name}_slot${i}`;
    const places = alongK
      ? `  let ${name}_line${i} = ${slot} / 16u * 8u + ${slot} / 2u % 4u * 2u + ${slot} / 8u % 2u;
  let ${name}_row${i} = ${name}_first + ${name}_line${i};
  let ${name}_term${i} = ${slot} % 2u * ${VECTOR}u;
  let ${name}_block${i} = ${name}_line${i} / ${BLOCK}u;
  let ${name}_place${i} = ${name}_line${i} % ${UNIT}u * ${LINE}u + ${name}_line${i} / ${UNIT}u % 2u * 2u + ${slot} % 2u;`
      : `  let ${name}_block${i} = ${slot} / ${8 * UNIT}u * 2u + ${slot} / 4u % 2u;
  let ${name}_row${i} = ${name}_first + ${name}_block${i} * ${BLOCK}u + ${slot} % 4u * ${VECTOR}u;
  let ${name}_term${i} = ${slot} / 8u % ${UNIT}u;
  let ${name}_place${i} = ${name}_term${i} * ${LINE}u + ${slot} % 4u;`;
    return `
  let ${slot} = (lane + ${i * threads}u);
${places}
  var ${name}_at${i} = ${name}_start + ${
    alongK
      ? `${name}_row${i} * ${name}_ld + (begin + ${name}_term${i}) / ${VECTOR}u`
      : `(begin + ${name}_term${i}) * ${name}_ld + ${name}_row${i} / ${VECTOR}u`
  };`;
  };
  const register = (set: number, i: number): string => `${name}${set}_next${i}`;
  const readVector = (set: number, i: number): string => {
    // The place seems to depend on what was read before: else compilers put the read in front of the store of that, which then waits
    // for both.
    const value = `${name}[${name}_at${i} + (${register(set, i)}.x & u.zero)]`;
    if (fit === 'full') return `      ${register(set, i)} = ${value};`;
    return `      if (p + ${name}_term${i} < end && ${name}_row${i} < ${count}) { ${register(set, i)} = ${value}; }
      else { ${register(set, i)} = vec4u(); }`;
  };
  const kind = name === 'a' ? 'subgroup_matrix_left' : 'subgroup_matrix_right';
  const byRows = name === 'a' ? alongK : !alongK;
  return {
    declare: (tile) =>
      [
        `  let ${name}_start = (u.${name}_start + batch * u.${name}_stride) / ${VECTOR}u;`,
        `  let ${name}_ld = u.${name}_ld / ${VECTOR}u;`,
        `  let ${name}_step = ${alongK ? `${UNIT / VECTOR}u` : `${UNIT}u * ${name}_ld`};`,
        `  let ${name}_first = ${tile} * ${size}u;`,
        each(declareRead),
      ].join('\n'),
    declareSet: (set) => each((i) => `  var ${register(set, i)} = vec4u();`),
    read: (set) => each((i) => readVector(set, i)),
    advance: (condition) => each((i) => `      ${name}_at${i} += select(0u, ${name}_step, ${condition});`),
    store: (set, place) =>
      each((i) => `    strips[${place}u + ${name}_block${i}][${name}_place${i}] = ${register(set, i)};`),
    load: (at, number, place) => {
      const block = `${place} + ${Math.floor(at / BLOCK)}u + ${number} * ${piece / BLOCK}u`;
      const column = ((at % BLOCK) / UNIT) * 2;
      return `subgroupMatrixLoad<${kind}<f16, ${UNIT}, ${UNIT}>, ${byRows ? 'row' : 'col'}_major>(&strips[${block}], ${column}u, ${LINE}u)`;
    },
  };
}

/** Parameters of {@link matrixUnits}. Inputs are f16. */
interface MatrixUnitsParams extends Omit<OperandParams, 'input'> {
  readonly tile: MatrixUnitsTile;
  readonly fit: MatrixUnitsFit;
}

/** Strips that are in workgroup memory at a time. */
const STRIPS = 2;

/** Rows of tiles that are worked on together, column by column, so that the groups that run at a time share B as well as A. */
const BAND = 16;

/**
 * `C = alpha op(A) op(B) + beta C` for A and B in f16 on the matrix units of the GPU ("tensor cores"), which multiply f16 exactly and
 * sum in float32. Tiling as in CUTLASS: a workgroup computes a tile of C, each of its subgroups a piece of that as
 * matrices of 16 x 16 sums, which stay in registers.
 *
 * Step by step along k two strips of A and of B are brought to workgroup memory; {@link matrixUnitsSide} has their
 * layout. The next ones are read to registers before the arithmetic, so that memory works meanwhile. At the end the sums go through
 * the same workgroup memory, 16 rows at a time, because only the device knows which invocation holds which of them.
 *
 * Beyond C and beyond k, zeros are read. Rows begin and end at multiples of eight elements.
 */
const matrixUnits = productKernel<MatrixUnitsParams>('gemm/matrix', (params, epilogue) => {
  const { output, transA, transB, tile, fit } = params;
  const { m, n, step, subgroupM, subgroupN } = tile;
  const threads = matrixUnitsInvocations(tile);
  const blocksA = m / BLOCK;
  const blocks = stripBlocks(tile);
  const shared = { threads, fit };
  const a = matrixUnitsSide({ ...shared, name: 'a', count: 'u.m', size: m, piece: subgroupM, alongK: !transA });
  const b = matrixUnitsSide({ ...shared, name: 'b', count: 'u.n', size: n, piece: subgroupN, alongK: transB });
  const [rows, columns] = [subgroupM / UNIT, subgroupN / UNIT];

  const products = /* wgsl */ `
${repeat(rows, (i) => `      let a${i} = ${a.load(i * UNIT, 'piece_row', 'place')};`)}
${repeat(columns, (j) => `      let b${j} = ${b.load(j * UNIT, 'piece_column', `place + ${blocksA}u`)};`)}
${repeat(columns, (j) =>
  repeat(rows, (i) => `      c${i}_${j} = subgroupMatrixMultiplyAccumulate(a${i}, b${j}, c${i}_${j});`),
)}`;
  const read = repeat(
    STRIPS,
    (strip) => `${a.read(strip)}
${b.read(strip)}
    p += ${UNIT}u;
${a.advance('p < end')}
${b.advance('p < end')}`,
  );
  const store = repeat(
    STRIPS,
    (strip) => `${a.store(strip, strip * blocks)}\n${b.store(strip, strip * blocks + blocksA)}`,
  );
  const checks = fit === 'full' ? [] : ['row < u.m', 'first_column + four * 4u < u.n'];
  const place = epilogue === undefined ? [] : ['batch', 'row', 'first_column + four * 4u'];
  const acc = `bitcast<vec4f>(strips[place + four / 4u][line * ${LINE}u + four % 4u])`;
  const storeRows = (i: number): string => /* wgsl */ `
${repeat(columns, (j) => `  subgroupMatrixStore<row_major>(&strips[place + ${j}u], 0u, c${i}_${j}, ${LINE}u);`)}
  workgroupBarrier();
  for (var slot = lane % ${SUBGROUP}u; slot < ${UNIT * (subgroupN / 4)}u; slot += ${SUBGROUP}u) {
    let line = slot / ${subgroupN / 4}u;
    let four = slot % ${subgroupN / 4}u;
    let row = first_row + ${i * UNIT}u + line;
    let at = (c_start + row * u.c_ld + first_column) / 4u + four;
    ${storeC({ by: 'store_c', at: 'at', place, acc, checks })}
  }
  workgroupBarrier();`;

  return {
    name: `gemm/matrix ${nameOf({ ...params, input: 'f16' })} ${m}x${n}x${step} ${subgroupM}x${subgroupN} ${fit}`,
    storage: {
      a: { access: 'read', type: 'array<vec4u>' },
      b: { access: 'read', type: 'array<vec4u>' },
      c: { access: 'read_write', type: outputType(output, true) },
    },
    uniforms: PRODUCT_UNIFORMS,
    features: ['f16', 'subgroups', 'chromium_experimental_subgroup_matrix'],
    // Blocks are the same throughout a subgroup, but made of the number of the invocation, of which WGSL does not know that.
    silenced: ['chromium.subgroup_matrix_uniformity'],
    code: /* wgsl */ `
${storeFunction(output, true, epilogue)}
var<workgroup> strips: array<array<vec4u, ${BLOCK_VECTORS}>, ${blocksOf(tile)}>;

${mainOf(threads)}
${PART_OF_GROUP}
  let band = tile / (${BAND}u * u.tiles_n);
  let band_rows = min(${BAND}u, u.tiles / u.tiles_n - band * ${BAND}u);
  let band_tile = tile % (${BAND}u * u.tiles_n);
  let tile_row = band * ${BAND}u + band_tile % band_rows;
  let tile_column = band_tile / band_rows;

  let subgroup = lane / ${SUBGROUP}u;
  let piece_row = subgroup / ${n / subgroupN}u;
  let piece_column = subgroup % ${n / subgroupN}u;
${a.declare('tile_row')}
${b.declare('tile_column')}
${repeat(rows, (i) => repeat(columns, (j) => `  var c${i}_${j} = subgroup_matrix_result<f32, ${UNIT}, ${UNIT}>();`))}
${repeat(STRIPS, (strip) => `${a.declareSet(strip)}\n${b.declareSet(strip)}`)}
  var p = begin;
${read}
  // A step that is no constant, not to be unrolled.
  for (var done = begin; done < end; done += ${step}u + u.zero) {
${store}
${read}
    workgroupBarrier();
    // A loop, so that reads do not go after the products where bounds are not checked.
    for (var strip = 0u; strip < ${STRIPS}u; strip++) {
      let place = strip * ${blocks}u;${products}
    }
    workgroupBarrier();
  }

  let first_row = tile_row * ${m}u + piece_row * ${subgroupM}u;
  let first_column = tile_column * ${n}u + piece_column * ${subgroupN}u;
  let c_start = u.c_start + batch * u.c_stride + split * u.c_split;
  let place = subgroup * ${columns}u;
${repeat(rows, storeRows)}
}`,
  };
});

/** Tiles for the matrix units, largest first. */
const TILES: ReadonlyMap<string, MatrixUnitsTile> = new Map(
  [
    { m: 128, n: 128, step: 32 as const, subgroupM: 64, subgroupN: 64 },
    { m: 64, n: 64, step: 32 as const, subgroupM: 32, subgroupN: 32 },
  ].map((tile: MatrixUnitsTile) => [idOf(tile), tile]),
);

const FITS: readonly MatrixUnitsFit[] = ['full', 'edges'];

/** Workgroups that keep a large GPU busy. */
const ENOUGH_GROUPS = 128;
/** The minimum number of terms of a split: adding the splits up is a kernel more. */
const MIN_DEPTH = 1024;

/** Products of f16 on the matrix units of a GPU, of rows that begin and end at multiples of eight. */
export const matrixUnitsTable: ProductTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    const both = [false, true];
    return matrixUnitsTiles(traits).flatMap((tile) =>
      DTYPES.flatMap((output) =>
        both.flatMap((transA) =>
          both.flatMap((transB) => FITS.map((fit) => matrixUnits({ output, transA, transB, tile, fit }))),
        ),
      ),
    );
  },
  candidates: ({ product, depth }, traits) => {
    if (!canMultiply(product, depth, traits)) return undefined;
    const tiles = matrixUnitsTiles(traits);
    const smallest = tiles.at(-1);
    if (smallest === undefined) return undefined;
    const enough = tiles.find((tile) => groupsOf(tile, product) >= ENOUGH_GROUPS);
    return {
      variants: tiles.map((tile) => variantOf(tile, product)),
      preferred: variantOf(enough ?? smallest, product),
      condition: 'by eights',
    };
  },
  appliesEpilogues: () => true,
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILES, variant);
    const { m, n, k, transA, transB, c } = product;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % tile.step === 0;
    const params = { output: c.dtype, transA, transB, tile, fit: isFull ? 'full' : 'edges' } as const;
    // Rows of C begin and end at multiples of four, or another family has it.
    const kernel: TileLaunch['kernel'] = (_, epilogue) => matrixUnits(params, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};

/** The tiles that a device has matrix units and room for, largest first. */
export function matrixUnitsTiles(traits: DeviceTraits): readonly MatrixUnitsTile[] {
  const { matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes } = traits;
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  if (!fits) return [];
  return [...TILES.values()].filter(
    (tile) => matrixUnitsInvocations(tile) <= maxInvocations && matrixUnitsBytes(tile) <= maxWorkgroupBytes,
  );
}

function canMultiply(product: Product, depth: number, { storageAlignment }: DeviceTraits): boolean {
  const { m, n, k, transA, transB, a, b, c } = product;
  if (a.dtype !== 'f16' || isVector(product)) return false;
  // Cut along k, each part must begin at a vector.
  if (depth < k && depth % VECTOR !== 0) return false;
  const isByVectors = (matrix: Matrix, length: number): boolean =>
    [length, bindMatrix(matrix, storageAlignment).start, matrix.ld, matrix.stride].every((x) => x % VECTOR === 0);
  return (
    isByVectors(a, transA ? m : k) &&
    isByVectors(b, transB ? k : n) &&
    areFours(n, bindMatrix(c, storageAlignment).start, c.ld, c.stride)
  );
}

function variantOf(tile: MatrixUnitsTile, product: Product): Variant {
  const groups = groupsOf(tile, product);
  const splits = Math.max(1, Math.min(Math.floor(ENOUGH_GROUPS / groups), Math.floor(product.k / MIN_DEPTH)));
  return { id: idOf(tile), splits };
}

function groupsOf(tile: MatrixUnitsTile, { m, n, batchCount }: Product): number {
  return batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
}

function idOf({ m, n, step }: MatrixUnitsTile): string {
  return `gemm/matrix-${m}x${n}x${step}`;
}
