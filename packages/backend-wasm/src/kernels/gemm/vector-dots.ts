import type { FloatDType } from '@concord/backend-core';
import {
  f32,
  f32x4,
  type FunctionBody,
  type FunctionHandle,
  i32,
  i8x16,
  type Local,
  type ModuleBuilder,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { type FloatLoads, floatLoads } from '../common/float-storage.ts';
import { type MultiplyAdd, multiplyAdd, wordsOfShuffle } from '../common/integers.ts';
import type { WasmTraits } from '../kernel.ts';

/** `(sums, matrix, strideBytes, x, count, depth)`: `sums[i] += M[i] x`, sums and x as float32. */
export type VectorLoop = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

const PARAMS = ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'] as const;
/** Rows whose products are summed side by side. */
const DOT_ROWS = 4;
/** Rows that are scaled and added in one pass over the sums. */
const SCALED_ROWS = 8;

/** Adds the loop for a matrix whose depth lies side by side; `strideBytes` is from one output's row to the next. */
export function addDots(module: ModuleBuilder, traits: WasmTraits, dtype: FloatDType | 'bf16'): VectorLoop {
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
  const total = body.let(sumsOfFour(body, products));
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

/** The sums of the components of four vectors, as a vector. */
export function sumsOfFour(body: FunctionBody, vectors: readonly Local<'v128'>[]): Value<'v128'> {
  const [a, b, c, d] = vectors as readonly [Local<'v128'>, Local<'v128'>, Local<'v128'>, Local<'v128'>];
  const ab = body.let(
    f32x4.add(i8x16.shuffle(a, b, wordsOfShuffle(0, 4, 1, 5)), i8x16.shuffle(a, b, wordsOfShuffle(2, 6, 3, 7))),
  );
  const cd = body.let(
    f32x4.add(i8x16.shuffle(c, d, wordsOfShuffle(0, 4, 1, 5)), i8x16.shuffle(c, d, wordsOfShuffle(2, 6, 3, 7))),
  );
  return f32x4.add(
    i8x16.shuffle(ab, cd, wordsOfShuffle(0, 1, 4, 5)),
    i8x16.shuffle(ab, cd, wordsOfShuffle(2, 3, 6, 7)),
  );
}

/** Adds the loop for a matrix whose outputs lie side by side; `strideBytes` is from one place of the depth to the next. */
export function addScaledRows(module: ModuleBuilder, traits: WasmTraits, dtype: FloatDType | 'bf16'): VectorLoop {
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
