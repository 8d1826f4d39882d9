import { type FunctionHandle, f32x4, i32, type Local, type ModuleBuilder, v128 } from '../../encoder/index.ts';
import { multiplyAdd } from '../common/multiply-add.ts';
import type { WasmTraits } from '../kernel.ts';

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
