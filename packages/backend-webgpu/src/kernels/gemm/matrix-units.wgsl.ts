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
import {
  bestOnUnits,
  EACH_STEP,
  matrixInvocations,
  type MatrixTile,
  operandStrips,
  type OperandStrips,
  type RatedMatrixTile,
  STEP,
  tileOnUnits,
  tilesOnUnits,
  VECTOR,
} from './matrix-tile.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { DTYPES, outputType, storeFunction, type StoreInPlace, storeInPlace } from './storage-formats.ts';
import type { DeviceTraits } from '../recorder.ts';
import { areFours, bindMatrix, isVector, type Matrix, type Product, type ProductTable } from './product.ts';

/** The known facts about the shape. `full`: all sizes are multiples of the tile's. `edges`: not that. */
export type MatrixUnitsFit = 'full' | 'edges';

/** Source text that brings one operand's strips from memory. */
export interface OperandReads {
  /** Declares the place of the first strips; `tile` is the number of the tile along m (n). */
  declare(tile: string): string;
  /** Reads the strips that begin at term `p` to registers. */
  readonly read: string;
  /** Moves on to the next strips, if there are some. */
  readonly advance: string;
}

/** Reads vectors of eight of op(A) or op(B): zeros beyond it, unless there is nothing beyond. */
export function operandReads(
  name: 'a' | 'b',
  alongK: boolean,
  { m, n }: MatrixTile,
  { reads, placeOf, register, place, declare }: OperandStrips,
  fit: MatrixUnitsFit,
): OperandReads {
  // The rows or terms between an invocation's vectors, which lie as far apart in memory.
  const what = alongK ? 'row' : 'term';
  const stride = reads > 1 ? placeOf(1, 0)[what] - placeOf(0, 0)[what] : 0;
  const count = name === 'a' ? 'u.m' : 'u.n';
  const readVector = (read: number): string => {
    // The place seems to depend on what was read before: else compilers put the read in front of the store of that, which then waits
    // for both.
    const value = `${name}[${name}_memory + ${read * stride}u * ${name}_ld + (${register(read)}.x & u.zero)]`;
    if (fit === 'full') return `    ${register(read)} = ${value};`;
    return `    if (p + ${place('term', read)} < end && ${name}_first + ${place('row', read)} < ${count}) { ${register(read)} = ${value}; }
    else { ${register(read)} = vec4u(); }`;
  };
  const at = alongK
    ? `(${name}_first + ${name}_row) * ${name}_ld + (begin + ${name}_term) / ${VECTOR}u`
    : `(begin + ${name}_term) * ${name}_ld + (${name}_first + ${name}_row) / ${VECTOR}u`;
  const step = alongK ? `${STEP / VECTOR}u` : `${STEP}u * ${name}_ld`;
  return {
    declare: (tile) => `${declare}
  let ${name}_ld = u.${name}_ld / ${VECTOR}u;
  let ${name}_first = ${tile} * ${name === 'a' ? m : n}u;
  var ${name}_memory = (u.${name}_start + batch * u.${name}_stride) / ${VECTOR}u + ${at};`,
    read: repeat(reads, readVector),
    advance: `    ${name}_memory += select(0u, ${step}, p < end);`,
  };
}

/** Parameters of {@link matrixUnits}. Inputs are f16. */
interface MatrixUnitsParams extends Omit<OperandParams, 'input'> {
  readonly tile: MatrixTile;
  readonly fit: MatrixUnitsFit;
}

/** Rows of tiles that are worked on together, column by column, so that the groups that run at a time share B as well as A. */
const BAND = 16;

/**
 * `C = alpha op(A) op(B) + beta C` for A and B in f16 on the matrix units of the GPU ("tensor cores"), which multiply f16 exactly and
 * sum in float32. Tiling as in CUTLASS: a workgroup computes a tile of C, each of its subgroups a piece of that as
 * matrices of 16 x 16 sums, which stay in registers.
 *
 * Step by step along k strips of A and of B are brought to workgroup memory; {@link operandStrips} has their
 * layout. The next ones are read to registers before the arithmetic, so that memory works meanwhile. At the end the sums go through
 * the same workgroup memory, 16 rows at a time, because only the device knows which invocation holds which of them.
 *
 * Beyond C and beyond k, zeros are read. Rows begin and end at multiples of eight elements.
 */
const matrixUnits = productKernel<MatrixUnitsParams>('gemm/matrix', (params, epilogue) => {
  const { output, transA, transB, tile, fit } = params;
  const { m, n, piece } = tile;
  const a = operandStrips({ name: 'a', tile, order: transA ? 'across k' : 'along k' });
  const b = operandStrips({ name: 'b', tile, order: transB ? 'along k' : 'across k' });
  const readsA = operandReads('a', !transA, tile, a, fit);
  const readsB = operandReads('b', transB, tile, b, fit);
  const onUnits = tileOnUnits(tile, a, b);
  const checks = fit === 'full' ? [] : ['first_row + row < u.m', 'first_column + column < u.n'];
  const place = epilogue === undefined ? [] : ['batch', 'first_row + row', 'first_column + column'];
  const placeIn = (row: string): string => `(c_start + ${row} * u.c_ld + column) / 4u`;
  const storeAfterReads =
    (spec: RunSpec) =>
    (row: string, prefix: string): StoreInPlace => {
      const inDomain = ['batch', `(first_row + ${row})`, '(first_column + column)'];
      const inPlace = storeInPlace(output, true, spec, { place: inDomain, prefix });
      return { ...inPlace, store: `        let at = ${placeIn(row)};\n${inPlace.store}` };
    };
  // Beyond C there may be nothing to read.
  const ahead = fit === 'full' && epilogue !== undefined ? storeAfterReads(epilogue) : undefined;

  return {
    name: `gemm/matrix ${nameOf({ ...params, input: 'f16' })} ${m}x${n}x${STEP} ${piece}x${piece} ${fit}`,
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
${ahead === undefined ? storeFunction(output, true, epilogue) : ahead('row', 'e').functions}
${onUnits.memory}

${mainOf(matrixInvocations(tile))}
${PART_OF_GROUP}
  let band = tile / (${BAND}u * u.tiles_n);
  let band_rows = min(${BAND}u, u.tiles / u.tiles_n - band * ${BAND}u);
  let band_tile = tile % (${BAND}u * u.tiles_n);
${readsA.declare(`(band * ${BAND}u + band_tile % band_rows)`)}
${readsB.declare('(band_tile / band_rows)')}
${onUnits.declare}
  var p = begin;
${readsA.read}
${readsB.read}
  ${EACH_STEP} {
${a.store}
${b.store}
    p += ${STEP}u;
${readsA.advance}
${readsB.advance}
${readsA.read}
${readsB.read}
    workgroupBarrier();
${onUnits.products}
    workgroupBarrier();
  }

  let first_row = a_first;
  let first_column = b_first;
  let c_start = u.c_start + batch * u.c_stride + split * u.c_split + first_row * u.c_ld + first_column;
${onUnits.storeSums(4, '', ahead ?? storeC({ by: 'store_c', at: placeIn('row'), place, acc: 'sum', checks }))}
}`,
  };
});

/** Tiles for the matrix units, largest first. */
const TILES: ReadonlyMap<string, RatedMatrixTile> = new Map(
  [
    { m: 128, n: 128, piece: 64 as const, start: 8, each: 0.94 },
    { m: 64, n: 64, piece: 32 as const, start: 2.3, each: 0.6 },
  ].map((tile: RatedMatrixTile) => [idOf(tile), tile]),
);

const FITS: readonly MatrixUnitsFit[] = ['full', 'edges'];

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
    const { m, n, k: terms, batchCount } = product;
    const offer = bestOnUnits(matrixUnitsTiles(traits), MIN_DEPTH, (tile) => ({
      id: idOf(tile),
      tiles: batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n),
      terms,
      entries: batchCount * m * n,
    }));
    return offer && { ...offer, condition: 'by eights' };
  },
  appliesEpilogues: () => true,
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILES, variant);
    const { m, n, k, transA, transB, c } = product;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % STEP === 0;
    const params = { output: c.dtype, transA, transB, tile, fit: isFull ? 'full' : 'edges' } as const;
    // Rows of C begin and end at multiples of four, or another family has it.
    const kernel: TileLaunch['kernel'] = (_, epilogue) => matrixUnits(params, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};

/** The tiles that a device has matrix units and room for, largest first. */
export function matrixUnitsTiles(traits: DeviceTraits): readonly RatedMatrixTile[] {
  return tilesOnUnits(TILES.values(), traits);
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

function idOf({ m, n }: MatrixTile): string {
  return `gemm/matrix-${m}x${n}x${STEP}`;
}
