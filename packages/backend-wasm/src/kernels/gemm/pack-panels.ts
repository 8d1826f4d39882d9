import type { StoredFloatDType } from '@concord/backend-core';
import {
  callStatement,
  f32,
  type FunctionBody,
  type FunctionHandle,
  i32,
  i8x16,
  type Local,
  type ModuleBuilder,
  type Operand,
  type Statement,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { type FloatLoads, floatLoads, STORAGE_SHIFT } from '../common/float-storage.ts';
import { wordsOfShuffle } from '../common/integers.ts';
import { TILE_COLUMNS } from './micro-kernel.ts';
import { PRODUCT, type ProductArgument } from './product-arguments.ts';

/** `(to, from, rowStride, depthStride, rows, depth)`, addresses and distances in bytes. */
export type PackPanels = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

interface Panel {
  readonly to: Local<'i32'>;
  readonly from: Local<'i32'>;
  readonly rowStride: Local<'i32'>;
  readonly depthStride: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/**
 * Adds a function that packs a matrix for the micro-kernel: `width` rows after the other as a panel, in which for each place
 * of the depth there are the elements of its rows side by side, as float32. Rows that are missing in the last panel are 0.
 * One of the two distances has to be that of neighbouring elements.
 *
 * @param width - rows of a panel: 4 or 8
 */
export function packPanels(module: ModuleBuilder, width: number, dtype: StoredFloatDType): PackPanels {
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, to, from, rowStride, depthStride, rows, depth) => {
      const storage = floatLoads(dtype, body);
      const panel = { to, from, rowStride, depthStride, depth };
      body.for(0, rows, width, (row) => {
        const left = body.let(i32.sub(rows, row));
        body.if(
          i32.ltU(left, width),
          () => packLast(body, storage, panel, width, left),
          () =>
            body.if(
              i32.eq(rowStride, 2 ** storage.shift),
              () => copyRows(body, storage, panel, width),
              () => transposeRows(body, storage, panel, width),
            ),
        );
        body.increase(to, i32.mul(depth, 4 * width));
        body.increase(from, i32.mul(rowStride, width));
      });
    },
  );
}

/** Packs a panel of fewer rows than it is wide. */
function packLast(body: FunctionBody, storage: FloatLoads, panel: Panel, width: number, rows: Local<'i32'>): void {
  const { to, from, rowStride, depthStride, depth } = panel;
  body.for(0, depth, 1, (p) => {
    const source = body.let(i32.add(from, i32.mul(p, depthStride)));
    const target = body.let(i32.add(to, i32.mul(p, 4 * width)));
    body.for(0, width, 1, (row) => {
      const at = i32.add(target, i32.shl(row, 2));
      body.if(
        i32.ltU(row, rows),
        () => body.emit(f32.store(at, storage.load1(i32.add(source, i32.mul(row, rowStride))))),
        () => body.emit(f32.store(at, 0)),
      );
    });
  });
}

/** Rows that are neighbours in memory. */
function copyRows(body: FunctionBody, storage: FloatLoads, panel: Panel, width: number): void {
  const { to, from, depthStride, depth } = panel;
  const source = body.let(from);
  const target = body.let(to);
  body.for(0, depth, 1, () => {
    for (let row = 0; row < width; row += 4) {
      body.emit(v128.store(target, storage.load4(source, row << storage.shift), 4 * row));
    }
    body.increase(source, depthStride);
    body.increase(target, 4 * width);
  });
}

/** Rows whose depth lies side by side in memory: squares of 4 are turned. */
function transposeRows(body: FunctionBody, storage: FloatLoads, panel: Panel, width: number): void {
  const { to, from, rowStride, depth } = panel;
  const target = body.let(to);
  const sources = [body.let(from)];
  for (let row = 1; row < width; row++) sources.push(body.let(i32.add(sources[row - 1] as Local<'i32'>, rowStride)));
  const fours = body.let(i32.and(depth, -4));
  body.for(0, fours, 4, () => {
    for (let row = 0; row + 4 <= width; row += 4) {
      const square = sources.slice(row, row + 4).map((source) => body.let(storage.load4(source)));
      for (const [p, column] of transposed(body, square).entries()) {
        body.emit(v128.store(target, column, 4 * (p * width + row)));
      }
    }
    for (const source of sources) body.increase(source, 4 << storage.shift);
    body.increase(target, 16 * width);
  });
  body.for(fours, depth, 1, () => {
    for (const [row, source] of sources.entries()) {
      body.emit(f32.store(target, storage.load1(source), 4 * row));
      body.increase(source, 1 << storage.shift);
    }
    body.increase(target, 4 * width);
  });
}

/** The columns of a square of four rows. */
function transposed(body: FunctionBody, rows: readonly Value<'v128'>[]): Value<'v128'>[] {
  const [a, b, c, d] = rows as [Value<'v128'>, Value<'v128'>, Value<'v128'>, Value<'v128'>];
  const [lowAB, highAB] = [body.let(lowPairs(a, b)), body.let(highPairs(a, b))];
  const [lowCD, highCD] = [body.let(lowPairs(c, d)), body.let(highPairs(c, d))];
  return [lowHalves(lowAB, lowCD), highHalves(lowAB, lowCD), lowHalves(highAB, highCD), highHalves(highAB, highCD)];
}

type Join = (x: Value<'v128'>, y: Value<'v128'>) => Value<'v128'>;
const lowPairs: Join = (x, y) => i8x16.shuffle(x, y, wordsOfShuffle(0, 4, 1, 5));
const highPairs: Join = (x, y) => i8x16.shuffle(x, y, wordsOfShuffle(2, 6, 3, 7));
const lowHalves: Join = (x, y) => i8x16.shuffle(x, y, wordsOfShuffle(0, 1, 4, 5));
const highHalves: Join = (x, y) => i8x16.shuffle(x, y, wordsOfShuffle(2, 3, 6, 7));

/** A block of B: `columns` from `column` on, over `depth` places from `first` on. */
interface ColumnBlock {
  readonly to: Operand<'i32'>;
  readonly batch: Local<'i32'>;
  readonly column: Local<'i32'>;
  readonly columns: Local<'i32'>;
  readonly first: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/**
 * Adds the code that packs blocks of B, as panels of 8 columns, to a module. Gives the statement that packs one, by the words
 * at `args`.
 */
export type ColumnPacker = (module: ModuleBuilder) => (args: Local<'i32'>, block: ColumnBlock) => Statement;

/** B as a matrix in memory. */
export function matrixColumns(dtype: StoredFloatDType): ColumnPacker {
  const shift = STORAGE_SHIFT[dtype];
  return (module) => {
    const pack = packPanels(module, TILE_COLUMNS, dtype);
    return (args, { to, batch, column, columns, first, depth }) => {
      const word = (name: ProductArgument): Value<'i32'> => PRODUCT.word(args, name);
      const elements = i32.add(
        i32.mul(batch, word('strideB')),
        i32.add(i32.mul(column, word('columnStrideB')), i32.mul(first, word('depthStrideB'))),
      );
      const from = i32.add(word('b'), i32.shl(elements, shift));
      const strides = [i32.shl(word('columnStrideB'), shift), i32.shl(word('depthStrideB'), shift)] as const;
      return callStatement(pack, to, from, ...strides, columns, depth);
    };
  };
}
