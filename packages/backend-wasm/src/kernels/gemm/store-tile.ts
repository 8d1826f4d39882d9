import type { FloatDType } from '@concord/backend-core';
import {
  f32,
  f32x4,
  type FunctionHandle,
  i32,
  type Local,
  type ModuleBuilder,
  type Value,
  v128,
} from '../../encoder/index.ts';
import { floatStorage } from '../common/float-storage.ts';

/** `(to, rowStride, sums, sumsStride, rows, columns, alpha, beta)`: see {@link storeTile}. */
export type StoreTile = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'f32', 'f32'], 'none'>;

/**
 * Adds the function that stores sums: `to = alpha sums + beta to`, rounded once. Distances between rows are in bytes; elements of
 * a row lie side by side. Where beta is 0 nothing is read.
 *
 * @param into - `sums`: the results replace the sums, not rounded, for an epilogue
 */
export function storeTile(module: ModuleBuilder, dtype: FloatDType, into: 'to' | 'sums' = 'to'): StoreTile {
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
