import type { ResolvedConv2d } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import type { CodeCache } from '../common/code-cache.ts';
import { operandAddress } from '../common/operand-address.ts';
import type { Launcher } from '../kernel.ts';
import { PAD, padCode } from './pad-code.ts';

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
  const elementBytes = dtype === 'f16' ? 2 : 4;
  const [top, left] = padding;
  for (let first = 0; first < images; first += together) {
    const count = Math.min(together, images - first);
    const from = input + elementBytes * first * channels * imageHeight * imageWidth;
    const words = PAD.words({ from, to: padded, imageHeight, imageWidth, height, width, top, left }, {});
    launcher.launch({ code, words, tiles: count * channels });
    work(padded, first, count);
  }
}
