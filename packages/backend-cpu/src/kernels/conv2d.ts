import type { CheckedConv2d } from '@concord/backend-core/implement';
import { put, type Storage } from './operands.ts';

/**
 * `output = conv2d(input, filter)`, packed NCHW x KCRS -> NKPQ: each row of output is summed in float64, one tap after the other
 * over the pixels for which it lies inside the image. Padding is never multiplied, so an infinite weight makes no NaN of it.
 */
export function conv2d(call: CheckedConv2d, input: Float32Array, filter: Float32Array, output: Storage): void {
  const [batch, channels, height, width] = call.inputShape;
  const [filters, groupChannels, filterHeight, filterWidth] = call.filterShape;
  const [, , outputHeight, outputWidth] = call.outputShape;
  const [strideHeight, strideWidth] = call.stride;
  const [dilationHeight, dilationWidth] = call.dilation;
  const [top, left] = call.padding;
  const filtersPerGroup = filters / call.groups;
  const sums = new Float64Array(outputWidth);
  let to = 0;
  for (let image = 0; image < batch; image++) {
    for (let k = 0; k < filters; k++) {
      const firstChannel = image * channels + Math.floor(k / filtersPerGroup) * groupChannels;
      for (let y = 0; y < outputHeight; y++, to += outputWidth) {
        sums.fill(0);
        let tap = k * groupChannels * filterHeight * filterWidth;
        for (let c = 0; c < groupChannels; c++) {
          for (let r = 0; r < filterHeight; r++) {
            const row = y * strideHeight - top + r * dilationHeight;
            const isInside = row >= 0 && row < height;
            const line = ((firstChannel + c) * height + row) * width;
            for (let s = 0; s < filterWidth; s++, tap++) {
              if (!isInside) continue;
              const offset = s * dilationWidth - left;
              const first = Math.max(0, Math.ceil(-offset / strideWidth));
              const end = Math.min(outputWidth, Math.ceil((width - offset) / strideWidth));
              const weight = filter[tap] as number;
              let from = line + first * strideWidth + offset;
              for (let x = first; x < end; x++, from += strideWidth) {
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
