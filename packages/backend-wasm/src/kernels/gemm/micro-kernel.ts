import type { StoredFloatDType } from '@concord/backend-core';
import {
  f32,
  f32x4,
  type FunctionBody,
  type FunctionHandle,
  i32,
  type Local,
  type ModuleBuilder,
  v128,
  type Value,
} from '../../encoder/index.ts';
import { multiplyAdd } from '../common/integers.ts';
import type { WasmTraits } from '../kernel.ts';
import { floatStorage } from '../common/float-storage.ts';

/** `(a, b, sums, rowBytes, depth, isFirst)`: see {@link microKernel}. */
export type MicroKernel = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], 'none'>;

/** Columns of a tile: two vectors. */
export const TILE_COLUMNS = 8;

/**
 * Rows of a tile: 4 x 2 sums, a row of B, a factor and a product leave some of the 16 vector registers of x64 free. From 5 rows
 * on V8 11.3 spills sums in the loop, with multiply-add too; with it newer engines gain nothing from 6.
 */
export const TILE_ROWS = 4;

/**
 * Adds the function that does the work of all products: the sums of a tile of 4 x 8, `sum += a[p][row] b[p][column]`
 * over a depth. `a` and `b` are panels; a row of sums begins `rowBytes` after the previous one, and is overwritten
 * where `isFirst` is 1.
 */
export function microKernel(module: ModuleBuilder, traits: WasmTraits): MicroKernel {
  const madd = multiplyAdd(traits);
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32'], result: 'none' },
    (body, a, b, sums, rowBytes, depth, isFirst) => {
      const tile = Array.from({ length: TILE_ROWS }, () => [body.local('v128'), body.local('v128')] as const);
      const left = body.local('v128');
      const right = body.local('v128');
      const factor = body.local('v128');
      const end = body.let(i32.add(b, i32.mul(depth, 4 * TILE_COLUMNS)));
      body.while(i32.ne(b, end), () => {
        body.set(left, v128.load(b));
        body.set(right, v128.load(b, 16));
        for (const [row, [low, high]] of tile.entries()) {
          body.set(factor, v128.load32Splat(a, 4 * row));
          body.set(low, madd(factor, left, low));
          body.set(high, madd(factor, right, high));
        }
        body.increase(a, 4 * TILE_ROWS);
        body.increase(b, 4 * TILE_COLUMNS);
      });
      // A choice per store, instead of two arms, makes V8 spill the sums in the loop.
      const store = (finish: (sum: Local<'v128'>, offset: number) => void): void => {
        for (const [low, high] of tile) {
          finish(low, 0);
          finish(high, 16);
          body.increase(sums, rowBytes);
        }
      };
      body.if(
        isFirst,
        () => store((sum, offset) => body.emit(v128.store(sums, sum, offset))),
        () => store((sum, offset) => body.emit(v128.store(sums, f32x4.add(sum, v128.load(sums, offset)), offset))),
      );
    },
  );
}

/** `(to, from, stride, count)`: see {@link loadVector}. */
export type LoadVector = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32'], 'none'>;

/** Adds the function that copies `count` elements `stride` bytes apart as float32 side by side. */
export function loadVector(module: ModuleBuilder, dtype: StoredFloatDType): LoadVector {
  return module.function({ params: ['i32', 'i32', 'i32', 'i32'], result: 'none' }, (body, to, from, stride, count) => {
    const storage = floatStorage(dtype, body);
    const copy = (start: Parameters<FunctionBody['for']>[0]): void =>
      body.for(start, count, 1, () => {
        body.emit(f32.store(to, storage.load1(from)));
        body.increase(to, 4);
        body.increase(from, stride);
      });
    body.if(
      i32.eq(stride, 1 << storage.shift),
      () => {
        const fours = body.let(i32.and(count, -4));
        body.for(0, fours, 4, () => {
          body.emit(v128.store(to, storage.load4(from)));
          body.increase(to, 16);
          body.increase(from, 4 << storage.shift);
        });
        copy(fours);
      },
      () => copy(0),
    );
  });
}

/** `(to, rowStride, sums, sumsStride, rows, columns, alpha, beta)`: see {@link storeTile}. */
export type StoreTile = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32', 'f32'], 'none'>;

/**
 * Adds the function that stores sums: `to = alpha sums + beta to`, rounded once. Distances between rows are in bytes; elements of
 * a row lie side by side. Where beta is 0 nothing is read.
 *
 * @param into - `sums`: the results replace the sums, not rounded, for an epilogue
 */
export function storeTile(module: ModuleBuilder, dtype: StoredFloatDType, into: 'to' | 'sums' = 'to'): StoreTile {
  return module.function(
    { params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32', 'f32'], result: 'none' },
    (body, to, rowStride, sums, sumsStride, rows, columns, alpha, beta) => {
      const storage = floatStorage(dtype, body);
      const alphas = body.let(f32x4.splat(alpha));
      const betas = body.let(f32x4.splat(beta));
      const fours = body.let(i32.and(columns, -4));
      const put4 = (target: Local<'i32'>, source: Local<'i32'>, value: Value<'v128'>): void => {
        if (into === 'sums') body.emit(v128.store(source, value));
        else storage.store4(target, value);
      };
      const put1 = (target: Local<'i32'>, source: Local<'i32'>, value: Value<'f32'>): void => {
        if (into === 'sums') body.emit(f32.store(source, value));
        else storage.store1(target, value);
      };
      const columnLoop = (addsOld: boolean): void => {
        const [target, source] = [body.let(to), body.let(sums)];
        body.for(0, fours, 4, () => {
          const scaled = f32x4.mul(alphas, v128.load(source));
          put4(target, source, addsOld ? f32x4.add(scaled, f32x4.mul(betas, storage.load4(target))) : scaled);
          body.increase(target, 4 << storage.shift);
          body.increase(source, 16);
        });
        body.for(fours, columns, 1, () => {
          const scaled = f32.mul(alpha, f32.load(source));
          put1(target, source, addsOld ? f32.add(scaled, f32.mul(beta, storage.load1(target))) : scaled);
          body.increase(target, 1 << storage.shift);
          body.increase(source, 4);
        });
      };
      const rowLoop = (addsOld: boolean): void =>
        body.for(0, rows, 1, () => {
          columnLoop(addsOld);
          body.increase(to, rowStride);
          body.increase(sums, sumsStride);
        });
      body.if(
        f32.eq(beta, 0),
        () => rowLoop(false),
        () => rowLoop(true),
      );
    },
  );
}
