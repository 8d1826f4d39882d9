import type { FloatDType } from '@concord/backend-core';
import { callStatement, i32, memory, ModuleBuilder, select, type Value } from '../../encoder/index.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { divided, lesser } from '../common/integers.ts';
import type { TileEpilogue } from '../epilogue/epilogue-tile.ts';
import type { WasmTraits } from '../kernel.ts';
import { loadVector } from './load-vector.ts';
import { storeTile } from './store-tile.ts';
import { addDots, addScaledRows } from './vector-loops.ts';
import { VECTOR, type VectorWord } from './vector-words.ts';

/** Elements of the vector that are multiplied at a time, as float32 in the thread's own memory. */
export const VECTOR_BLOCK = 2048;

/** Bytes that a thread needs for itself. */
export const vectorScratch = (tile: number): number => 4 * (VECTOR_BLOCK + tile);

/** A matrix times a vector: memory is read once, and nothing packed but the vector. */
export function vectorCode(traits: WasmTraits, dtype: FloatDType, epilogue?: TileEpilogue): Uint8Array {
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
