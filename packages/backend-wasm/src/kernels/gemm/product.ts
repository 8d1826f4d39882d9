import type { FloatDType } from '@concord/backend-core';
import type { CodeCache } from '../common/code-cache.ts';
import { roundUp } from '../common/round-up.ts';
import { type TileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { TILE_COLUMNS, TILE_ROWS } from './micro-kernel.ts';
import { type ColumnPacker, matrixColumns } from './column-packer.ts';
import { packColumnsCode, productCode } from './product-code.ts';
import { BLOCK_DEPTH, type GivenWords, type ProductWords, productWords } from './product-words.ts';

/** The maximum number of rows and of columns of a tile of C: its panels of A and its sums fit the second level of cache. */
const MAX_ROWS = 96;
const MAX_COLUMNS = 256;
/** Columns of a tile are not made fewer than this to have more tiles: each packs its rows of A again. */
const MIN_COLUMNS = 64;
/** Tiles that a thread should find, so that none waits long for the last. */
const TILES_PER_THREAD = 4;
/** Multiplications below which a second thread comes too late. */
const SMALL_PRODUCT = 2 ** 18;
/** Memory that a packed B may take; a larger one is packed by each tile for itself. */
const MAX_PACKED_BYTES = 2 ** 26;

/** The parameters of the code of a product. */
export interface ProductForm {
  readonly a: FloatDType;
  readonly c: FloatDType;
  /** Names the packer. */
  readonly source: string;
  readonly packer: ColumnPacker;
}

const matrixForm = (dtype: FloatDType): ProductForm => ({
  a: dtype,
  c: dtype,
  source: dtype,
  packer: matrixColumns(dtype),
});

/** Products of matrices that are all stored in one type. */
export const MATRIX_FORMS: Readonly<Record<FloatDType, ProductForm>> = {
  f32: matrixForm('f32'),
  f16: matrixForm('f16'),
};

/** The tiles that C is cut into. */
export type Tiling = Pick<ProductWords, 'tileM' | 'tileN' | 'tilesM' | 'tilesN'>;

/**
 * Queues `batches` products.
 *
 * @param memory - gives memory that lasts for the op: default new one
 */
export function launchProduct(
  launcher: Launcher,
  codes: CodeCache,
  form: ProductForm,
  epilogue: TileEpilogue | undefined,
  batches: number,
  given: GivenWords,
  memory: (bytes: number) => number = (bytes) => launcher.temporary(bytes),
): void {
  const { m, n, k } = given;
  const { tileM, tileN, tilesM, tilesN } = tilingOf(launcher, m, n, k, batches);
  const panelBytes = 4 * Math.min(k, BLOCK_DEPTH);
  const sumsAt = aligned(tileM * panelBytes);
  const panelsAt = sumsAt + aligned(4 * tileM * tileN);
  const tilesOfBatch = tilesM * tilesN;
  const key = `product ${form.a} ${form.c} ${form.source} ${epilogue?.key ?? ''}`;
  const code = codes.get(key, (traits) => productCode(traits, form.a, form.c, form.packer, epilogue));
  const plan = { tileM, tileN, tilesM, tilesN, packed: 0, packedStride: 0, firstBatch: 0, sumsAt, panelsAt };
  const packedBytes = 4 * k * roundUp(n, TILE_COLUMNS);
  if (tilesM === 1 || packedBytes === 0 || packedBytes > MAX_PACKED_BYTES) {
    const scratchBytes = panelsAt + tileN * panelBytes;
    const words = withEpilogueWords(productWords(given, plan), epilogue, code);
    launcher.launch({ code, words, tiles: batches * tilesOfBatch, scratchBytes });
    return;
  }

  const packCode = codes.get(`columns ${form.source}`, (traits) => packColumnsCode(traits, form.packer));
  const isOneB = given.strideB === 0;
  const together = isOneB ? batches : Math.min(batches, Math.floor(MAX_PACKED_BYTES / packedBytes));
  const packed = memory(isOneB ? packedBytes : together * packedBytes);
  const tilesToPack = Math.ceil(k / BLOCK_DEPTH) * tilesN;
  for (let firstBatch = 0; firstBatch < batches; firstBatch += together) {
    const count = Math.min(together, batches - firstBatch);
    const packedPlan = { ...plan, packed, packedStride: isOneB ? 0 : packedBytes / 4, firstBatch };
    const words = withEpilogueWords(productWords(given, packedPlan), epilogue, code);
    launcher.launch({ code: packCode, words, tiles: (isOneB ? 1 : count) * tilesToPack });
    launcher.launch({ code, words, tiles: count * tilesOfBatch, scratchBytes: panelsAt });
  }
}

/** Cuts C so that all threads have work of about one size. */
export function tilingOf(
  { traits }: Pick<Launcher, 'traits'>,
  m: number,
  n: number,
  k: number,
  batches: number,
): Tiling {
  const tilesM = Math.ceil(m / MAX_ROWS);
  const tileM = roundUp(Math.ceil(m / tilesM), TILE_ROWS);
  let tilesN = Math.ceil(n / MAX_COLUMNS);
  const wanted = batches * m * n * k < SMALL_PRODUCT ? 1 : TILES_PER_THREAD * traits.threads;
  if (traits.threads > 1) {
    const most = Math.max(tilesN, Math.floor(n / MIN_COLUMNS));
    tilesN = Math.min(most, Math.max(tilesN, Math.ceil(wanted / (tilesM * batches))));
    // As many for each thread, if that is near.
    if (tilesN < most && (tilesN * tilesM * batches) % traits.threads !== 0) tilesN++;
  }
  const tileN = roundUp(Math.ceil(n / tilesN), TILE_COLUMNS);
  return { tileM, tileN, tilesM: Math.ceil(m / tileM), tilesN: Math.ceil(n / tileN) };
}

/** A multiple of the alignment that vectors like. */
const aligned = (bytes: number): number => roundUp(bytes, 64);
