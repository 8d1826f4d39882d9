import type { NamesIn } from '@concord/variants';
import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF, type ResolvedConv2d } from '@concord/backend-core/implement';
import { f32, i32, memory, ModuleBuilder, v128, type Value } from '../../encoder/index.ts';
import { Arguments, codeOfTiles, operandAddress } from '../common/arguments.ts';
import { floatStorage } from '../common/float-storage.ts';
import type { Launcher, WasmBuffer, WasmTraits } from '../kernel.ts';
import type { CodeCache } from '../common/code-cache.ts';

const PAD_WORDS = 'from to imageHeight imageWidth height width top left';
type PadArgument = NamesIn<typeof PAD_WORDS>;

/** The arguments that {@link padCode} reads: sizes of a plane before and after, and the padding above and left of it. */
const PAD: Arguments<PadArgument> = new Arguments([PAD_WORDS]);

/** Code whose tiles each copy a plane of an image as float32, with zeros around it. */
function padCode(traits: WasmTraits, dtype: FloatDType): Uint8Array {
  const module = new ModuleBuilder({ shared: traits.isShared });
  return codeOfTiles(module, (body, args, first, end) => {
    const word = (name: PadArgument): Value<'i32'> => PAD.word(args, name);
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
}

/** Memory that padded images may take at a time. */
const MAX_PADDED_BYTES = 2 ** 26;

/** Sizes of a plane of an image with its padding. */
export function paddedSize({ inputShape, padding }: ResolvedConv2d<WasmBuffer>): { height: number; width: number } {
  const [top, left, bottom, right] = padding;
  return { height: inputShape[2] + top + bottom, width: inputShape[3] + left + right };
}

/**
 * Queues work on a call's images as float32 with their padding: on all of them where they lie, or on as many at a time as are
 * copied with zeros around them.
 *
 * @param work - gets the address of the first of `count` images, and its number in the batch
 */
export function eachPadded(
  launcher: Launcher,
  codes: CodeCache,
  call: ResolvedConv2d<WasmBuffer>,
  work: (address: number, firstImage: number, count: number) => void,
): void {
  const { inputShape, dtype, padding } = call;
  const [images, channels, imageHeight, imageWidth] = inputShape;
  const input = operandAddress(call.input);
  if (dtype === 'f32' && padding.every((side) => side === 0)) {
    work(input, 0, images);
    return;
  }
  const { height, width } = paddedSize(call);
  const imageBytes = 4 * channels * height * width;
  const together = Math.max(1, Math.min(images, Math.floor(MAX_PADDED_BYTES / imageBytes)));
  const padded = launcher.temporary(together * imageBytes);
  const code = codes.get(`pad ${dtype}`, (traits) => padCode(traits, dtype));
  const elementBytes = BYTES_OF[dtype];
  const [top, left] = padding;
  for (let first = 0; first < images; first += together) {
    const count = Math.min(together, images - first);
    const from = input + elementBytes * first * channels * imageHeight * imageWidth;
    const args = PAD.pack({ from, to: padded, imageHeight, imageWidth, height, width, top, left }, {});
    launcher.launch({ code, args, tiles: count * channels });
    work(padded, first, count);
  }
}
