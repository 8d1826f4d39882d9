import type { StoredFloatDType } from '@concord/backend-core';
import {
  callStatement,
  type FunctionBody,
  i32,
  type Local,
  ModuleBuilder,
  select,
  type Value,
} from '../../encoder/index.ts';
import { codeOfTiles } from '../common/arguments.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { divided, lesser, roundUp } from '../common/integers.ts';
import { type TileEpilogue, withEpilogueArguments } from '../epilogue/epilogue-tile.ts';
import type { Launcher, WasmTraits } from '../kernel.ts';
import { type ColumnPacker, matrixColumns, packPanels } from './pack-panels.ts';
import { microKernel, storeTile, TILE_COLUMNS, TILE_ROWS } from './micro-kernel.ts';
import {
  BLOCK_DEPTH,
  type GivenArguments,
  PRODUCT,
  type ProductArgument,
  type ProductArguments,
  productArguments,
  type WindowArgument,
} from './product-arguments.ts';
import type { CodeCache } from '../common/code-cache.ts';

/** The bits of 1. */
const ONE = 0x3f80_0000;

type ReadWord = (name: ProductArgument | WindowArgument) => Value<'i32'>;

/** Code whose tiles each pack a block of B into `packed`: a block of the depth and `tileN` columns of one batch. */
function packColumnsCode(traits: WasmTraits, packer: ColumnPacker): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const packBlock = packer(module);
  return tileLoop(module, (body, word, tile, _scratch, args) => {
    const n = word('n');
    const { quotient: rest, remainder: tileColumn } = divided(body, tile, word('tilesN'));
    const blocks = body.let(i32.divU(i32.add(word('k'), BLOCK_DEPTH - 1), BLOCK_DEPTH));
    const { quotient: index, remainder: block } = divided(body, rest, blocks);
    const batch = body.let(i32.add(index, word('firstBatch')));
    const column = body.let(i32.mul(tileColumn, word('tileN')));
    const columns = body.let(lesser(word('tileN'), i32.sub(n, column)));
    const first = body.let(i32.mul(block, BLOCK_DEPTH));
    const depth = body.let(lesser(BLOCK_DEPTH, i32.sub(word('k'), first)));
    const to = packedAddress(word, index, column, first, depth);
    body.emit(packBlock(args, { to: body.let(to), batch, column, columns, first, depth }));
  });
}

/** Code whose tiles each compute one of C. */
function productCode(
  traits: WasmTraits,
  storageA: StoredFloatDType,
  storageC: StoredFloatDType,
  packer: ColumnPacker,
  epilogue?: TileEpilogue,
): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const micro = microKernel(module, traits);
  const packRows = packPanels(module, TILE_ROWS, storageA);
  const packBlock = packer(module);
  const store = storeTile(module, storageC, epilogue === undefined ? 'to' : 'sums');
  const finish = epilogue?.emit(module, traits);
  const isPlain = storageC === 'f32' && epilogue === undefined;
  const [shiftA, shiftC] = [STORAGE_SHIFT[storageA], STORAGE_SHIFT[storageC]];

  return tileLoop(module, (body, word, tile, scratch, args) => {
    const { quotient: rest, remainder: tileColumn } = divided(body, tile, word('tilesN'));
    const { quotient: index, remainder: tileRow } = divided(body, rest, word('tilesM'));
    const batch = body.let(i32.add(index, word('firstBatch')));
    const row = body.let(i32.mul(tileRow, word('tileM')));
    const rows = body.let(lesser(word('tileM'), i32.sub(word('m'), row)));
    const column = body.let(i32.mul(tileColumn, word('tileN')));
    const columns = body.let(lesser(word('tileN'), i32.sub(word('n'), column)));
    const startC = i32.add(i32.add(i32.mul(batch, word('strideC')), i32.mul(row, word('rowStrideC'))), column);
    const to = body.let(i32.add(word('c'), i32.shl(startC, shiftC)));
    const strideC = body.let(i32.shl(word('rowStrideC'), shiftC));
    // Whole tiles of sums that C gets as they are can lie there from the start.
    const isInPlace = body.let(isPlain ? arePlain(word, rows, columns) : i32.const(0));
    const sums = body.let(select(isInPlace, to, i32.add(scratch, word('sumsAt'))));
    const rowBytes = body.let(select(isInPlace, strideC, i32.shl(word('tileN'), 2)));
    const startA = body.let(
      i32.add(i32.mul(i32.remU(batch, word('periodA')), word('strideA')), i32.mul(row, word('rowStrideA'))),
    );
    const strideA = [i32.shl(word('rowStrideA'), shiftA), i32.shl(word('depthStrideA'), shiftA)] as const;

    const first = body.let(i32.const(0));
    body.loop((again) => {
      const depth = body.let(lesser(BLOCK_DEPTH, i32.sub(word('k'), first)));
      const fromA = i32.add(word('a'), i32.shl(i32.add(startA, i32.mul(first, word('depthStrideA'))), shiftA));
      body.emit(callStatement(packRows, scratch, fromA, ...strideA, rows, depth));
      const panels = body.local('i32');
      body.if(
        word('packed'),
        () => body.set(panels, packedAddress(word, index, column, first, depth)),
        () => {
          body.set(panels, i32.add(scratch, word('panelsAt')));
          body.emit(packBlock(args, { to: panels, batch, column, columns, first, depth }));
        },
      );
      body.for(0, columns, TILE_COLUMNS, (j) => {
        const panelA = body.let(scratch);
        const tileSums = body.let(i32.add(sums, i32.shl(j, 2)));
        body.for(0, rows, TILE_ROWS, () => {
          body.emit(callStatement(micro, panelA, panels, tileSums, rowBytes, depth, i32.eqz(first)));
          body.increase(panelA, i32.mul(depth, 4 * TILE_ROWS));
          body.increase(tileSums, i32.mul(rowBytes, TILE_ROWS));
        });
        body.increase(panels, i32.mul(depth, 4 * TILE_COLUMNS));
      });
      body.increase(first, BLOCK_DEPTH);
      body.branchIf(again, i32.ltU(first, word('k')));
    });
    const [alpha, beta] = [PRODUCT.float(args, 'alpha'), PRODUCT.float(args, 'beta')];
    body.if(i32.eqz(isInPlace), () =>
      body.emit(callStatement(store, to, strideC, sums, rowBytes, rows, columns, alpha, beta)),
    );
    if (finish === undefined) return;
    const { quotient: plane, remainder } = divided(body, batch, word('planeBatches'));
    const inPlane = i32.add(i32.mul(remainder, word('m')), row);
    const at = [i32.add(plane, word('firstPlane')), inPlane, column] as const;
    body.emit(callStatement(finish, i32.add(args, PRODUCT.bytes), to, strideC, sums, rowBytes, rows, columns, ...at));
  });
}

/** True if a tile is a whole number of the micro-kernel's, and alpha is 1 and beta 0. */
function arePlain(word: ReadWord, rows: Local<'i32'>, columns: Local<'i32'>): Value<'i32'> {
  const rest = i32.or(i32.and(rows, TILE_ROWS - 1), i32.and(columns, TILE_COLUMNS - 1));
  return i32.eqz(i32.or(i32.or(rest, word('beta')), i32.xor(word('alpha'), ONE)));
}

/** The address of the panels of a block: block after block of the depth, each with all columns. */
function packedAddress(
  word: ReadWord,
  index: Local<'i32'>,
  column: Local<'i32'>,
  first: Local<'i32'>,
  depth: Local<'i32'>,
): Value<'i32'> {
  const padded = i32.and(i32.add(word('n'), TILE_COLUMNS - 1), -TILE_COLUMNS);
  const inBatch = i32.add(i32.mul(first, padded), i32.mul(column, depth));
  return i32.add(word('packed'), i32.shl(i32.add(i32.mul(index, word('packedStride')), inBatch), 2));
}

/** The function that a command calls: statements for each of its tiles. */
function tileLoop(
  module: ModuleBuilder,
  statements: (
    body: FunctionBody,
    word: ReadWord,
    tile: Local<'i32'>,
    scratch: Local<'i32'>,
    args: Local<'i32'>,
  ) => void,
): Uint8Array {
  return codeOfTiles(module, (body, args, first, end, scratch) => {
    body.for(first, end, 1, (tile) => statements(body, (name) => PRODUCT.word(args, name), tile, scratch, args));
  });
}

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
interface ProductForm {
  readonly a: StoredFloatDType;
  readonly c: StoredFloatDType;
  /** Names the packer. */
  readonly source: string;
  readonly packer: ColumnPacker;
}

const COLUMNS: Readonly<Record<StoredFloatDType, ColumnPacker>> = {
  f32: matrixColumns('f32'),
  f16: matrixColumns('f16'),
  bf16: matrixColumns('bf16'),
};

/** Products of matrices: the type of A and C, and of B. */
export function matrixForm(dtype: StoredFloatDType, source: StoredFloatDType = dtype): ProductForm {
  return { a: dtype, c: dtype, source, packer: COLUMNS[source] };
}

/** The tiles that C is cut into. */
type Tiling = Pick<ProductArguments, 'tileM' | 'tileN' | 'tilesM' | 'tilesN'>;

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
  given: GivenArguments,
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
    const args = withEpilogueArguments(productArguments(given, plan), epilogue, code);
    launcher.launch({ code, args, tiles: batches * tilesOfBatch, scratchBytes });
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
    const args = withEpilogueArguments(productArguments(given, packedPlan), epilogue, code);
    launcher.launch({ code: packCode, args, tiles: (isOneB ? 1 : count) * tilesToPack });
    launcher.launch({ code, args, tiles: count * tilesOfBatch, scratchBytes: panelsAt });
  }
}

/** Cuts C so that all threads have work of about one size. */
function tilingOf({ traits }: Pick<Launcher, 'traits'>, m: number, n: number, k: number, batches: number): Tiling {
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
