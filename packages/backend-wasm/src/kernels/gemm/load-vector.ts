import type { FloatDType } from '@concord/backend-core';
import { f32, type FunctionBody, type FunctionHandle, i32, type ModuleBuilder, v128 } from '../../encoder/index.ts';
import { floatStorage } from '../common/float-storage.ts';

/** `(to, from, stride, count)`: see {@link loadVector}. */
export type LoadVector = FunctionHandle<readonly ['i32', 'i32', 'i32', 'i32'], 'none'>;

/** Adds the function that copies `count` elements `stride` bytes apart as float32 side by side. */
export function loadVector(module: ModuleBuilder, dtype: FloatDType): LoadVector {
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
