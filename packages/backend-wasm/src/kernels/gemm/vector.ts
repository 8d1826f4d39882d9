import type { StoredFloatDType, FloatDType } from '@concord/backend-core';
import { Arguments, type Words } from '../common/arguments.ts';
import {
  callStatement,
  f32,
  f32x4,
  type FunctionBody,
  type FunctionHandle,
  i32,
  i8x16,
  type Local,
  memory,
  ModuleBuilder,
  select,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { type FloatLoads, floatLoads, STORAGE_SHIFT } from '../common/float-storage.ts';
import { divided, lesser, type MultiplyAdd, multiplyAdd, wordsOfShuffle } from '../common/integers.ts';
import type { Launcher, WasmTraits } from '../kernel.ts';
import { type TileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import { loadVector, storeTile } from './micro-kernel.ts';
import type { CodeCache } from '../common/code-cache.ts';

type VectorWord =
  | 'matrix'
  | 'x'
  | 'to'
  | 'count'
  | 'depth'
  | 'countStride'
  | 'depthStride'
  | 'matrixStride'
  | 'xStride'
  | 'xBatchStride'
  | 'toStride'
  | 'toBatchStride'
  | 'alpha'
  | 'beta'
  | 'tile'
  | 'tiles'
  | 'isRow';
/** The words of {@link VECTOR}. */
export type VectorWords = Words<VectorWord, never>;

/**
 * The words that {@link vectorCode} reads: `to = alpha M x + beta to` for `count` outputs over a depth, for each batch. Strides
 * count elements; one of `countStride` and `depthStride`, which are M's, is 1. A tile is `tile` outputs of one batch.
 * For an epilogue `isRow` is 1 where the outputs are a row of C, 0 for a column.
 */
export const VECTOR: Arguments<VectorWord> = new Arguments([
  'matrix',
  'x',
  'to',
  'count',
  'depth',
  'countStride',
  'depthStride',
  'matrixStride',
  'xStride',
  'xBatchStride',
  'toStride',
  'toBatchStride',
  'alpha',
  'beta',
  'tile',
  'tiles',
  'isRow',
]);

/** The words that the caller sets. */
export type GivenVectorWords = Omit<VectorWords, 'tile' | 'tiles'>;

/** The words in the order of {@link VECTOR}, written out: a loop over names takes longer than a small product. */
export function vectorWords(given: GivenVectorWords, plan: Pick<VectorWords, 'tile' | 'tiles'>): number[] {
  return [
    given.matrix,
    given.x,
    given.to,
    given.count,
    given.depth,
    given.countStride,
    given.depthStride,
    given.matrixStride,
    given.xStride,
    given.xBatchStride,
    given.toStride,
    given.toBatchStride,
    given.alpha,
    given.beta,
    plan.tile,
    plan.tiles,
    given.isRow,
  ];
}

/** `(sums, matrix, strideBytes, x, count, depth)`: `sums[i] += M[i] x`, sums and x as float32. */
export type VectorLoop = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

const PARAMS = ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'] as const;
/** Rows whose products are summed side by side. */
const DOT_ROWS = 4;
/** Rows that are scaled and added in one pass over the sums. */
const SCALED_ROWS = 8;

/** Adds the loop for a matrix whose depth lies side by side; `strideBytes` is from one output's row to the next. */
export function addDots(module: ModuleBuilder, traits: WasmTraits, dtype: StoredFloatDType): VectorLoop {
  const madd = multiplyAdd(traits);
  return module.function({ params: PARAMS, result: 'none' }, (body, sums, matrix, stride, x, count, depth) => {
    const storage = floatLoads(dtype, body);
    const fours = body.let(i32.and(depth, -4));
    const groups = body.let(i32.and(count, -DOT_ROWS));
    const next = (rows: number): void => {
      body.increase(matrix, i32.mul(stride, rows));
      body.increase(sums, 4 * rows);
    };
    body.for(0, groups, DOT_ROWS, () => {
      const total = body.let(fourDots(body, storage, madd, { matrix, stride, x, fours, depth }));
      body.emit(v128.store(sums, f32x4.add(v128.load(sums), total)));
      next(DOT_ROWS);
    });
    body.for(groups, count, 1, () => {
      const products = body.let(f32x4.splat(0));
      body.for(0, fours, 4, (p) => {
        const row = storage.load4(i32.add(matrix, i32.shl(p, storage.shift)));
        body.set(products, madd(v128.load(i32.add(x, i32.shl(p, 2))), row, products));
      });
      const pairs = body.let(f32x4.add(products, i8x16.shuffle(products, products, wordsOfShuffle(2, 3, 0, 1))));
      const total = body.let(f32.add(f32x4.extractLane(pairs, 0), f32x4.extractLane(pairs, 1)));
      body.for(fours, depth, 1, (p) => {
        const element = storage.load1(i32.add(matrix, i32.shl(p, storage.shift)));
        body.set(total, f32.add(total, f32.mul(f32.load(i32.add(x, i32.shl(p, 2))), element)));
      });
      body.emit(f32.store(sums, f32.add(f32.load(sums), total)));
      next(1);
    });
  });
}

interface Rows {
  readonly matrix: Local<'i32'>;
  readonly stride: Local<'i32'>;
  readonly x: Local<'i32'>;
  /** The depth down to a multiple of 4. */
  readonly fours: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/** The products of four rows with x. */
function fourDots(body: FunctionBody, storage: FloatLoads, madd: MultiplyAdd, rows: Rows): Value<'v128'> {
  const { matrix, stride, x, fours, depth } = rows;
  const sources = [body.let(matrix)];
  for (let row = 1; row < DOT_ROWS; row++) sources.push(body.let(i32.add(sources[row - 1] as Local<'i32'>, stride)));
  const products = sources.map(() => body.let(f32x4.splat(0)));
  const at = body.let(x);
  body.for(0, fours, 4, () => {
    const factor = body.let(v128.load(at));
    for (const [row, source] of sources.entries()) {
      const sum = products[row] as Local<'v128'>;
      body.set(sum, madd(factor, storage.load4(source), sum));
      body.increase(source, 4 << storage.shift);
    }
    body.increase(at, 16);
  });
  const [a, b, c, d] = products as [Local<'v128'>, Local<'v128'>, Local<'v128'>, Local<'v128'>];
  const ab = body.let(
    f32x4.add(i8x16.shuffle(a, b, wordsOfShuffle(0, 4, 1, 5)), i8x16.shuffle(a, b, wordsOfShuffle(2, 6, 3, 7))),
  );
  const cd = body.let(
    f32x4.add(i8x16.shuffle(c, d, wordsOfShuffle(0, 4, 1, 5)), i8x16.shuffle(c, d, wordsOfShuffle(2, 6, 3, 7))),
  );
  const total = body.let(
    f32x4.add(i8x16.shuffle(ab, cd, wordsOfShuffle(0, 1, 4, 5)), i8x16.shuffle(ab, cd, wordsOfShuffle(2, 3, 6, 7))),
  );
  body.for(fours, depth, 1, () => {
    let elements: Value<'v128'> = f32x4.splat(storage.load1(sources[0] as Local<'i32'>));
    for (let row = 1; row < DOT_ROWS; row++) {
      elements = f32x4.replaceLane(elements, row, storage.load1(sources[row] as Local<'i32'>));
    }
    body.set(total, madd(v128.load32Splat(at), elements, total));
    for (const source of sources) body.increase(source, 1 << storage.shift);
    body.increase(at, 4);
  });
  return total;
}

/** Adds the loop for a matrix whose outputs lie side by side; `strideBytes` is from one place of the depth to the next. */
export function addScaledRows(module: ModuleBuilder, traits: WasmTraits, dtype: StoredFloatDType): VectorLoop {
  const madd = multiplyAdd(traits);
  return module.function({ params: PARAMS, result: 'none' }, (body, sums, matrix, stride, x, count, depth) => {
    const storage = floatLoads(dtype, body);
    const fours = body.let(i32.and(count, -4));
    const groups = body.let(i32.and(depth, -SCALED_ROWS));
    const pass = (rows: number): void => {
      const factors = Array.from({ length: rows }, (_, row) => body.let(v128.load32Splat(x, 4 * row)));
      const sources = [body.let(matrix)];
      for (let row = 1; row < rows; row++) sources.push(body.let(i32.add(sources[row - 1] as Local<'i32'>, stride)));
      const at = body.let(sums);
      body.for(0, fours, 4, () => {
        const sum = body.let(v128.load(at));
        for (const [row, source] of sources.entries()) {
          body.set(sum, madd(factors[row] as Local<'v128'>, storage.load4(source), sum));
          body.increase(source, 4 << storage.shift);
        }
        body.emit(v128.store(at, sum));
        body.increase(at, 16);
      });
      body.for(fours, count, 1, () => {
        const sum = body.let(f32.load(at));
        for (const [row, source] of sources.entries()) {
          const factor = f32x4.extractLane(factors[row] as Local<'v128'>, 0);
          body.set(sum, f32.add(sum, f32.mul(factor, storage.load1(source))));
          body.increase(source, 1 << storage.shift);
        }
        body.emit(f32.store(at, sum));
        body.increase(at, 4);
      });
      body.increase(matrix, i32.mul(stride, rows));
      body.increase(x, 4 * rows);
    };
    body.for(0, groups, SCALED_ROWS, () => pass(SCALED_ROWS));
    body.for(groups, depth, 1, () => pass(1));
  });
}

/** Elements of the vector that are multiplied at a time, as float32 in the thread's own memory. */
const VECTOR_BLOCK = 2048;

/** Bytes that a thread needs for itself. */
const vectorScratch = (tile: number): number => 4 * (VECTOR_BLOCK + tile);

/** A matrix times a vector: memory is read once, and nothing packed but the vector. */
function vectorCode(traits: WasmTraits, dtype: FloatDType, epilogue?: TileEpilogue): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const shift = STORAGE_SHIFT[dtype];
  const dots = addDots(module, traits, dtype);
  const scaledRows = addScaledRows(module, traits, dtype);
  const load = loadVector(module, dtype);
  const store = storeTile(module, dtype, epilogue === undefined ? 'to' : 'sums');
  const finish = epilogue?.emit(module, traits);
  module.function(
    { params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' },
    (body, args, firstTile, end, scratch) => {
      const word = (name: VectorWord): Value<'i32'> => VECTOR.word(args, name);
      const sums = body.let(i32.add(scratch, 4 * VECTOR_BLOCK));
      body.for(firstTile, end, 1, (tile) => {
        const { quotient: batch, remainder: part } = divided(body, tile, word('tiles'));
        const output = body.let(i32.mul(part, word('tile')));
        const count = body.let(lesser(word('tile'), i32.sub(word('count'), output)));
        body.emit(memory.fill(sums, 0, i32.shl(count, 2)));
        const start = body.let(i32.add(i32.mul(batch, word('matrixStride')), i32.mul(output, word('countStride'))));
        body.for(0, word('depth'), VECTOR_BLOCK, (first) => {
          const depth = body.let(lesser(VECTOR_BLOCK, i32.sub(word('depth'), first)));
          const inX = i32.add(i32.mul(batch, word('xBatchStride')), i32.mul(first, word('xStride')));
          const fromX = i32.add(word('x'), i32.shl(inX, shift));
          body.emit(callStatement(load, scratch, fromX, i32.shl(word('xStride'), shift), depth));
          const inMatrix = i32.add(start, i32.mul(first, word('depthStride')));
          const from = i32.add(word('matrix'), i32.shl(inMatrix, shift));
          body.if(
            i32.eq(word('depthStride'), 1),
            () =>
              body.emit(callStatement(dots, sums, from, i32.shl(word('countStride'), shift), scratch, count, depth)),
            () =>
              body.emit(
                callStatement(scaledRows, sums, from, i32.shl(word('depthStride'), shift), scratch, count, depth),
              ),
          );
        });
        const inTo = i32.add(i32.mul(batch, word('toBatchStride')), i32.mul(output, word('toStride')));
        const to = body.let(i32.add(word('to'), i32.shl(inTo, shift)));
        const stride = body.let(i32.shl(word('toStride'), shift));
        const [alpha, beta] = [VECTOR.float(args, 'alpha'), VECTOR.float(args, 'beta')];
        const sides = (isRow: Value<'i32'>, along: Value<'i32'>, across: Value<'i32'>) =>
          [select(isRow, across, along), select(isRow, along, across)] as const;
        const one = i32.const(1);
        const isDense = i32.eq(word('toStride'), 1);
        body.emit(callStatement(store, to, stride, sums, 4, ...sides(isDense, count, one), alpha, beta));
        if (finish === undefined) return;
        const isRow = word('isRow');
        const tileSides = sides(isRow, count, one);
        const at = sides(isRow, output, i32.const(0));
        body.emit(callStatement(finish, i32.add(args, VECTOR.bytes), to, stride, sums, 4, ...tileSides, batch, ...at));
      });
    },
  );
  return module.toBytes();
}

/** Elements of the matrix below which a tile is too little work. */
const MIN_TILE_ELEMENTS = 2 ** 14;
/** The maximum number of outputs of a tile, whose sums then stay in the first level of cache. */
const MAX_TILE = 4096;
/** Tiles that a thread should find, so that none waits long for the last. */
const TILES_PER_THREAD = 4;

/** Queues `batches` products of a matrix and a vector. */
export function launchVector(
  launcher: Launcher,
  codes: CodeCache,
  dtype: FloatDType,
  batches: number,
  given: GivenVectorWords,
  epilogue?: TileEpilogue,
): void {
  const { count, depth } = given;
  const code = codes.get(`vector ${dtype} ${epilogue?.key ?? ''}`, (traits) => vectorCode(traits, dtype, epilogue));
  // Where outputs lie side by side, a narrow tile reads a piece of each row: half as fast as whole rows.
  const tilesOfThread = given.depthStride === 1 ? TILES_PER_THREAD : 1;
  const wanted = Math.ceil((tilesOfThread * launcher.traits.threads) / batches);
  const parts = Math.max(1, Math.min(wanted, Math.ceil((count * depth) / MIN_TILE_ELEMENTS)));
  const rounds = Math.ceil(count / MAX_TILE / wanted);
  const tile = Math.ceil(count / (rounds * parts) / 8) * 8;
  const tiles = Math.ceil(count / tile);
  const words = withEpilogueWords(vectorWords(given, { tile, tiles }), epilogue, code);
  launcher.launch({ code, words, tiles: batches * tiles, scratchBytes: vectorScratch(tile) });
}
