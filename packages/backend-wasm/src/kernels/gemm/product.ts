import type { FloatDType } from '@concord/backend-core';
import type { CodeCache } from '../common/code-cache.ts';
import { type TileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { TILE_COLUMNS, TILE_ROWS } from './micro-kernel.ts';
import type { ColumnPacker } from './column-packer.ts';
import { packColumnsCode, productCode } from './product-code.ts';
import { BLOCK_DEPTH, PRODUCT, type ProductWords } from './product-words.ts';

/** The most rows and columns of a tile of C: its panels of A fit the second level of cache, and its sums beside them. */
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

/** What code a product needs. */
export interface ProductForm {
  readonly a: FloatDType;
  readonly c: FloatDType;
  /** Names the packer. */
  readonly source: string;
  readonly packer: ColumnPacker;
  readonly epilogue?: TileEpilogue | undefined;
}

/** How C is cut, and where things are; {@link launchProduct} works them out. */
type Planned =
  | 'packedStride'
  | 'firstBatch'
  | 'tileM'
  | 'tileN'
  | 'tilesM'
  | 'tilesN'
  | 'packed'
  | 'sumsAt'
  | 'panelsAt';

/** The tiles that C is cut into. */
export type Tiling = Pick<ProductWords, 'tileM' | 'tileN' | 'tilesM' | 'tilesN'>;

/** Queues `batches` products. */
export function launchProduct(
  launcher: Launcher,
  codes: CodeCache,
  form: ProductForm,
  batches: number,
  given: Omit<ProductWords, Planned>,
): void {
  const { m, n, k } = given;
  const tiling = tilingOf(launcher, m, n, k, batches);
  const panelBytes = 4 * Math.min(k, BLOCK_DEPTH);
  const sumsAt = aligned(tiling.tileM * panelBytes);
  const panelsAt = sumsAt + aligned(4 * tiling.tileM * tiling.tileN);
  const tilesOfBatch = tiling.tilesM * tiling.tilesN;
  const { epilogue } = form;
  const code = codes.get(`product ${form.a} ${form.c} ${form.source} ${epilogue?.key ?? ''}`, (traits) =>
    productCode(traits, form.a, form.c, form.packer, epilogue),
  );
  const wordsWith = (plan: ProductWords): Uint32Array => withEpilogueWords(PRODUCT.words(plan), epilogue);
  const plan = { ...given, ...tiling, packed: 0, packedStride: 0, firstBatch: 0, sumsAt, panelsAt };
  const packedBytes = 4 * k * roundUp(n, TILE_COLUMNS);
  if (tiling.tilesM === 1 || packedBytes === 0 || packedBytes > MAX_PACKED_BYTES) {
    const scratchBytes = panelsAt + tiling.tileN * panelBytes;
    launcher.launch({ code, words: wordsWith(plan), tiles: batches * tilesOfBatch, scratchBytes });
    return;
  }

  const packCode = codes.get(`columns ${form.source}`, (traits) => packColumnsCode(traits, form.packer));
  const isOneB = given.strideB === 0;
  const together = isOneB ? batches : Math.min(batches, Math.floor(MAX_PACKED_BYTES / packedBytes));
  const packed = launcher.temporary(isOneB ? packedBytes : together * packedBytes);
  const tilesToPack = Math.ceil(k / BLOCK_DEPTH) * tiling.tilesN;
  for (let firstBatch = 0; firstBatch < batches; firstBatch += together) {
    const count = Math.min(together, batches - firstBatch);
    const words = wordsWith({ ...plan, packed, packedStride: isOneB ? 0 : packedBytes / 4, firstBatch });
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
  }
  const tileN = roundUp(Math.ceil(n / tilesN), TILE_COLUMNS);
  return { tileM, tileN, tilesM: Math.ceil(m / tileM), tilesN: Math.ceil(n / tileN) };
}

/** A multiple of the alignment that vectors like. */
const aligned = (bytes: number): number => roundUp(bytes, 64);
const roundUp = (value: number, to: number): number => Math.ceil(value / to) * to;
