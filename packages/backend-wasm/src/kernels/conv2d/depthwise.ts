import type { CheckedConv2d, ResolvedConv2d } from '@concord/backend-core/implement';
import type { WasmBuffer } from '../../wasm-buffer.ts';
import type { CodeCache } from '../common/code-cache.ts';
import { operandAddress } from '../common/operand-address.ts';
import { tileEpilogue, withEpilogueWords } from '../epilogue/epilogue-tile.ts';
import type { Launcher } from '../kernel.ts';
import { DEPTHWISE, depthwiseCode } from './depthwise-code.ts';
import { eachPadded, paddedSize } from './padded-images.ts';

/** Code has an instruction for each element of a filter. */
const MAX_TAPS = 49;
/** The maximum number of outputs of a tile, whose sums stay in the first level of cache; a row may have more. */
const MAX_OUTPUTS = 4096;

/** True if each group has one channel, and a filter that is not too large. */
export function isDepthwise({ filterShape, groups }: CheckedConv2d): boolean {
  return groups > 1 && filterShape[1] === 1 && filterShape[2] * filterShape[3] <= MAX_TAPS;
}

/** Queues a convolution in which each output is a sum over one channel. */
export function convolveDepthwise(launcher: Launcher, codes: CodeCache, call: ResolvedConv2d<WasmBuffer>): void {
  const { inputShape, filterShape, outputShape, stride, dilation, dtype } = call;
  const [filters, , filterHeight, filterWidth] = filterShape;
  const [, , outputHeight, outputWidth] = outputShape;
  const form = { dtype, filterHeight, filterWidth, columnStep: stride[1], tapColumn: dilation[1] };
  const epilogue = tileEpilogue(call);
  const key = `depthwise ${Object.values(form).join()} ${epilogue?.key ?? ''}`;
  const code = codes.get(key, (traits) => depthwiseCode(traits, form, epilogue));
  const { height, width } = paddedSize(call);
  const rowsOfTile = Math.min(outputHeight, Math.max(1, Math.floor(MAX_OUTPUTS / outputWidth)));
  const tilesOfPlane = Math.ceil(outputHeight / rowsOfTile);
  const imageBytes = (dtype === 'f16' ? 2 : 4) * filters * outputHeight * outputWidth;
  eachPadded(launcher, codes, call, (images, firstImage, count) => {
    const words = DEPTHWISE.words(
      {
        images,
        filter: operandAddress(call.filter),
        output: operandAddress(call.output) + firstImage * imageBytes,
        filters,
        filtersOfChannel: filters / inputShape[1],
        planeSize: height * width,
        rowStep: stride[0] * width,
        tapRow: dilation[0] * width,
        outputHeight,
        outputWidth,
        rowsOfTile,
        tilesOfPlane,
        firstImage,
      },
      {},
    );
    const scratchBytes = 4 * rowsOfTile * outputWidth;
    launcher.launch({
      code,
      words: withEpilogueWords(words, epilogue, code),
      tiles: count * filters * tilesOfPlane,
      scratchBytes,
    });
  });
}
