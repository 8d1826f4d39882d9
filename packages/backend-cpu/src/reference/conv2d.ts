import type { Conv2dShape } from '@concord/backend-core';
import type { Reference, Values } from './result.ts';

/**
 * 2-d cross-correlation in float64: seven nested loops, one sum per output entry, terms outside the image left out.
 *
 * @returns `[N, K, P, Q]`, packed; `magnitude` is sum |input||filter|
 */
export function conv2dReference(shape: Conv2dShape, input: Values, filter: Values): Reference {
  const [, channels, height, width] = shape.inputShape;
  const [, groupChannels, filterHeight, filterWidth] = shape.filterShape;
  const [batch, filters, outputHeight, outputWidth] = shape.outputShape;
  const [strideH, strideW] = shape.stride ?? [1, 1];
  const [padTop, padLeft] = shape.padding ?? [0, 0];
  const [dilationH, dilationW] = shape.dilation ?? [1, 1];
  const filtersPerGroup = filters / (shape.groups ?? 1);

  const value = new Float64Array(batch * filters * outputHeight * outputWidth);
  const magnitude = new Float64Array(value.length);
  let at = 0;
  for (let n = 0; n < batch; n++) {
    for (let k = 0; k < filters; k++) {
      const firstChannel = Math.floor(k / filtersPerGroup) * groupChannels;
      for (let p = 0; p < outputHeight; p++) {
        for (let q = 0; q < outputWidth; q++) {
          let sum = 0;
          let absolute = 0;
          for (let c = 0; c < groupChannels; c++) {
            for (let r = 0; r < filterHeight; r++) {
              const y = p * strideH - padTop + r * dilationH;
              if (y < 0 || y >= height) continue;
              for (let s = 0; s < filterWidth; s++) {
                const x = q * strideW - padLeft + s * dilationW;
                if (x < 0 || x >= width) continue;
                const image = input[((n * channels + firstChannel + c) * height + y) * width + x] as number;
                const weight = filter[((k * groupChannels + c) * filterHeight + r) * filterWidth + s] as number;
                sum += image * weight;
                absolute += Math.abs(image * weight);
              }
            }
          }
          value[at] = sum;
          magnitude[at] = absolute;
          at++;
        }
      }
    }
  }
  return { value, magnitude };
}
