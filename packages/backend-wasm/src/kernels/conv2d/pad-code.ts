import type { FloatDType } from '@concord/backend-core';
import { f32, i32, memory, ModuleBuilder, type Value, v128 } from '../../encoder/index.ts';
import { Arguments } from '../common/arguments.ts';
import { floatStorage } from '../common/float-storage.ts';
import type { WasmTraits } from '../kernel.ts';

type PadWord = 'from' | 'to' | 'imageHeight' | 'imageWidth' | 'height' | 'width' | 'top' | 'left';

/** The words that {@link padCode} reads: sizes of a plane before and after, and the padding above and left of it. */
export const PAD: Arguments<PadWord> = new Arguments([
  'from',
  'to',
  'imageHeight',
  'imageWidth',
  'height',
  'width',
  'top',
  'left',
]);

/** Code whose tiles each copy a plane of an image as float32, with zeros around it. */
export function padCode(traits: WasmTraits, dtype: FloatDType): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  module.function({ params: ['i32', 'i32', 'i32', 'i32'], result: 'none', export: 'run' }, (body, args, first, end) => {
    const word = (name: PadWord): Value<'i32'> => PAD.word(args, name);
    const storage = floatStorage(dtype, body);
    const [imageWidth, rowBytes] = [body.let(word('imageWidth')), body.let(i32.shl(word('width'), 2))];
    const planeBytes = body.let(i32.mul(word('height'), rowBytes));
    const above = body.let(i32.add(i32.mul(word('top'), rowBytes), i32.shl(word('left'), 2)));
    body.for(first, end, 1, (plane) => {
      const target = body.let(i32.add(word('to'), i32.mul(plane, planeBytes)));
      const rows = i32.mul(plane, word('imageHeight'));
      const source = body.let(i32.add(word('from'), i32.shl(i32.mul(rows, imageWidth), storage.shift)));
      body.emit(memory.fill(target, 0, planeBytes));
      body.increase(target, above);
      body.for(0, word('imageHeight'), 1, () => {
        if (dtype === 'f32') body.emit(memory.copy(target, source, i32.shl(imageWidth, 2)));
        else {
          const [at, from] = [body.let(target), body.let(source)];
          const fours = body.let(i32.and(imageWidth, -4));
          body.for(0, fours, 4, () => {
            body.emit(v128.store(at, storage.load4(from)));
            body.increase(at, 16);
            body.increase(from, 4 << storage.shift);
          });
          body.for(fours, imageWidth, 1, () => {
            body.emit(f32.store(at, storage.load1(from)));
            body.increase(at, 4);
            body.increase(from, 1 << storage.shift);
          });
        }
        body.increase(target, rowBytes);
        body.increase(source, i32.shl(imageWidth, storage.shift));
      });
    });
  });
  return module.toBytes();
}
