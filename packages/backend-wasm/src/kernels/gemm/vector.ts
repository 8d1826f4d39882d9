import type { NamesIn } from '@concord/variants';
import type { StoredFloatDType } from '@concord/backend-core';
import { Arguments, codeOfTiles, type ArgumentValues } from '../common/arguments.ts';
import {
  callStatement,
  type FunctionBody,
  i32,
  type Local,
  memory,
  ModuleBuilder,
  select,
  type Value,
} from '../../encoder/index.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { divided, lesser } from '../common/integers.ts';
import type { Launcher, WasmTraits } from '../kernel.ts';
import { type TileEpilogue, withEpilogueArguments } from '../epilogue/epilogue-tile.ts';
import { loadVector, storeTile } from './micro-kernel.ts';
import type { CodeCache } from '../common/code-cache.ts';
import { addDots, addScaledRows, type VectorLoop } from './vector-dots.ts';
import { addDeinterleave, addWeightDots, BLOCKS, type IntegerForm } from './weight-dots.ts';

const OF_OPERANDS = 'matrix x to count depth countStride depthStride matrixStride xStride xBatchStride';
const OF_OUTPUTS = 'toStride toBatchStride alpha beta tile tiles isRow';
type VectorArgument = NamesIn<typeof OF_OPERANDS> | NamesIn<typeof OF_OUTPUTS>;
/** The arguments of {@link VECTOR}. */
export type VectorArguments = ArgumentValues<VectorArgument, never>;

/**
 * The arguments that {@link vectorCode} reads: `to = alpha M x + beta to` for `count` outputs over a depth, for each batch. Strides
 * count elements; one of `countStride` and `depthStride`, which are M's, is 1. A tile is `tile` outputs of one batch.
 * For an epilogue `isRow` is 1 where the outputs are a row of C, 0 for a column.
 */
export const VECTOR: Arguments<VectorArgument> = new Arguments([OF_OPERANDS, OF_OUTPUTS]);

/** The arguments that the caller sets. */
export type GivenVectorArguments = Omit<VectorArguments, 'tile' | 'tiles'>;

/** The arguments in the order of {@link VECTOR}, written out: a loop over names takes longer than a small product. */
export function vectorArguments(given: GivenVectorArguments, plan: Pick<VectorArguments, 'tile' | 'tiles'>): number[] {
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

/** Elements of the vector that are multiplied at a time, as float32 in the thread's own memory. */
export const VECTOR_BLOCK = 2048;

/** Bytes that a thread needs for itself. */
const vectorScratch = (tile: number): number => 4 * (VECTOR_BLOCK + tile);

/** The storage of a matrix: floats, or integers with numbers of blocks. */
export type MatrixForm = StoredFloatDType | IntegerForm;

/** A matrix times a vector: memory is read once, and nothing packed but the vector. */
function vectorCode(
  traits: WasmTraits,
  dtype: StoredFloatDType,
  form: MatrixForm,
  epilogue?: TileEpilogue,
): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  const shift = STORAGE_SHIFT[dtype];
  const add = typeof form === 'string' ? floatRows(module, traits, form) : integerRows(module, traits, form);
  const load = loadVector(module, dtype);
  const store = storeTile(module, dtype, epilogue === undefined ? 'to' : 'sums');
  const finish = epilogue?.emit(module, traits);
  const wordBytes = VECTOR.bytes + (typeof form === 'string' ? 0 : BLOCKS.bytes);
  return codeOfTiles(module, (body, args, firstTile, end, scratch) => {
    const word = (name: VectorArgument): Value<'i32'> => VECTOR.word(args, name);
    const sums = body.let(i32.add(scratch, 4 * VECTOR_BLOCK));
    body.for(firstTile, end, 1, (tile) => {
      const { quotient: batch, remainder: part } = divided(body, tile, word('tiles'));
      const output = body.let(i32.mul(part, word('tile')));
      const count = body.let(lesser(word('tile'), i32.sub(word('count'), output)));
      body.emit(memory.fill(sums, 0, i32.shl(count, 2)));
      body.for(0, word('depth'), VECTOR_BLOCK, (first) => {
        const depth = body.let(lesser(VECTOR_BLOCK, i32.sub(word('depth'), first)));
        const inX = i32.add(i32.mul(batch, word('xBatchStride')), i32.mul(first, word('xStride')));
        const fromX = i32.add(word('x'), i32.shl(inX, shift));
        body.emit(callStatement(load, scratch, fromX, i32.shl(word('xStride'), shift), depth));
        add({ body, args, sums, x: scratch, batch, output, first, count, depth });
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
      body.emit(callStatement(finish, i32.add(args, wordBytes), to, stride, sums, 4, ...tileSides, batch, ...at));
    });
  });
}

/** A piece of a tile: some of the depth, from `first` on. */
interface Piece {
  readonly body: FunctionBody;
  readonly args: Local<'i32'>;
  readonly sums: Local<'i32'>;
  readonly x: Local<'i32'>;
  readonly batch: Local<'i32'>;
  readonly output: Local<'i32'>;
  readonly first: Local<'i32'>;
  readonly count: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/** Emits what adds the products of a piece to its sums. */
type AddPiece = (piece: Piece) => void;

/** The number of the element of the matrix that a piece begins with. */
function elementOf({ args, batch, output, first }: Piece): Value<'i32'> {
  const step = (by: Local<'i32'>, name: VectorArgument): Value<'i32'> => i32.mul(by, VECTOR.word(args, name));
  const start = i32.add(step(batch, 'matrixStride'), step(output, 'countStride'));
  return i32.add(start, step(first, 'depthStride'));
}

function floatRows(module: ModuleBuilder, traits: WasmTraits, form: StoredFloatDType): AddPiece {
  const dots = addDots(module, traits, form);
  const scaledRows = addScaledRows(module, traits, form);
  const shift = STORAGE_SHIFT[form];
  return (piece) => {
    const { body, args, sums, x, count, depth } = piece;
    const from = body.let(i32.add(VECTOR.word(args, 'matrix'), i32.shl(elementOf(piece), shift)));
    const strided = (loop: VectorLoop, stride: VectorArgument) => (): void =>
      body.emit(callStatement(loop, sums, from, i32.shl(VECTOR.word(args, stride), shift), x, count, depth));
    const isDense = i32.eq(VECTOR.word(args, 'depthStride'), 1);
    body.if(isDense, strided(dots, 'countStride'), strided(scaledRows, 'depthStride'));
  };
}

function integerRows(module: ModuleBuilder, traits: WasmTraits, form: IntegerForm): AddPiece {
  const dots = addWeightDots(module, traits, form);
  const deinterleave = form.bits === 4 ? addDeinterleave(module) : undefined;
  return (piece) => {
    const { body, args, sums, x, batch, output, first, count, depth } = piece;
    if (deinterleave !== undefined) body.emit(callStatement(deinterleave, x, depth));
    const blocks = body.let(i32.add(args, VECTOR.bytes));
    const bytes = (elements: Value<'i32'>): Value<'i32'> => (form.bits === 4 ? i32.shrU(elements, 1) : elements);
    const from = i32.add(VECTOR.word(args, 'matrix'), bytes(elementOf(piece)));
    const block = body.let(i32.divU(first, BLOCKS.word(blocks, 'block')));
    const number = (name: 'scale' | 'zero'): Value<'i32'> => {
      const step = (by: Local<'i32'>, of: 'Batch' | 'Row' | 'Block'): Value<'i32'> =>
        i32.mul(by, BLOCKS.word(blocks, `${name}${of}`));
      return i32.add(i32.add(step(batch, 'Batch'), step(output, 'Row')), step(block, 'Block'));
    };
    const stride = bytes(VECTOR.word(args, 'countStride'));
    body.emit(callStatement(dots, sums, from, stride, x, count, depth, blocks, number('scale'), number('zero')));
  };
}

/** Elements of the matrix below which a tile is too little work. */
const MIN_TILE_ELEMENTS = 2 ** 14;
/** The maximum number of outputs of a tile, whose sums then stay in the first level of cache. */
const MAX_TILE = 4096;
/** Tiles that a thread should find, so that none waits long for the last. */
const TILES_PER_THREAD = 4;

/** Options of a product of a matrix and a vector. */
interface VectorOptions {
  readonly epilogue?: TileEpilogue | undefined;
  /** Storage of the matrix. Default: that of the vector. */
  readonly form?: MatrixForm;
  /** The arguments of {@link BLOCKS}, of integers. */
  readonly blocks?: readonly number[];
}

/** Queues `batches` products of a matrix and a vector. */
export function launchVector(
  launcher: Launcher,
  codes: CodeCache,
  dtype: StoredFloatDType,
  batches: number,
  given: GivenVectorArguments,
  { epilogue, form = dtype, blocks = [] }: VectorOptions = {},
): void {
  const { count, depth } = given;
  const own = typeof form === 'string' ? form : Object.values(form).join(' ');
  const key = `vector ${dtype} ${own} ${epilogue?.key ?? ''}`;
  const code = codes.get(key, (traits) => vectorCode(traits, dtype, form, epilogue));
  // Where outputs lie side by side, a narrow tile reads a piece of each row: half as fast as whole rows.
  const tilesOfThread = given.depthStride === 1 ? TILES_PER_THREAD : 1;
  const wanted = Math.ceil((tilesOfThread * launcher.traits.threads) / batches);
  const parts = Math.max(1, Math.min(wanted, Math.ceil((count * depth) / MIN_TILE_ELEMENTS)));
  const rounds = Math.ceil(count / MAX_TILE / wanted);
  const tile = Math.ceil(count / (rounds * parts) / 8) * 8;
  const tiles = Math.ceil(count / tile);
  const args = withEpilogueArguments([...vectorArguments(given, { tile, tiles }), ...blocks], epilogue, code);
  launcher.launch({ code, args, tiles: batches * tiles, scratchBytes: vectorScratch(tile) });
}
