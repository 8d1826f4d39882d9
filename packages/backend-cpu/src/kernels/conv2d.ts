import type { CheckedConv2d } from '@concord/backend-core/implement';
import { put, type Storage } from './operands.ts';

/**
 * `output = conv2d(input, filter)`, packed NCHW x KCRS -> NKPQ: each row of output is summed in float64, one tap after the other
 * over the pixels for which it lies inside the image. Padding is never multiplied, so an infinite weight makes no NaN of it.
 * Transposed, a tap goes over the pixels of the image instead.
 */
export function conv2d(call: CheckedConv2d, input: Float32Array, filter: Float32Array, output: Storage): void {
  const [batch, channels, height, width] = call.inputShape;
  const [, , filterHeight, filterWidth] = call.filterShape;
  const [, filters, outputHeight, outputWidth] = call.outputShape;
  const [strideHeight, strideWidth] = call.stride;
  const [dilationHeight, dilationWidth] = call.dilation;
  const [top, left] = call.padding;
  const { transposed } = call;
  const filtersPerGroup = filters / call.groups;
  const groupChannels = channels / call.groups;
  const taps = filterHeight * filterWidth;
  const [nextPixel, nextOutput] = transposed ? [1, strideWidth] : [strideWidth, 1];
  const sums = new Float64Array(outputWidth);
  let to = 0;
  for (let image = 0; image < batch; image++) {
    for (let k = 0; k < filters; k++) {
      const firstChannel = Math.floor(k / filtersPerGroup) * groupChannels;
      for (let y = 0; y < outputHeight; y++, to += outputWidth) {
        sums.fill(0);
        for (let c = 0; c < groupChannels; c++) {
          const plane = transposed
            ? (firstChannel + c) * filtersPerGroup + (k % filtersPerGroup)
            : k * groupChannels + c;
          let tap = plane * taps;
          for (let r = 0; r < filterHeight; r++) {
            const row = transposed
              ? (y + top - r * dilationHeight) / strideHeight
              : y * strideHeight - top + r * dilationHeight;
            const isInside = row >= 0 && row < height && Number.isInteger(row);
            const line = ((image * channels + firstChannel + c) * height + row) * width;
            for (let s = 0; s < filterWidth; s++, tap++) {
              if (!isInside) continue;
              const offset = s * dilationWidth - left;
              const [most, reach] = transposed ? [width, outputWidth] : [outputWidth, width];
              const first = Math.max(0, Math.ceil(-offset / strideWidth));
              const end = Math.min(most, Math.ceil((reach - offset) / strideWidth));
              const weight = filter[tap] as number;
              let from = line + first * nextPixel + (transposed ? 0 : offset);
              let x = first * nextOutput + (transposed ? offset : 0);
              for (let count = first; count < end; count++, from += nextPixel, x += nextOutput) {
                sums[x] = (sums[x] as number) + weight * (input[from] as number);
              }
            }
          }
        }
        for (let x = 0; x < outputWidth; x++) put(output, to + x, sums[x] as number);
      }
    }
  }
}
