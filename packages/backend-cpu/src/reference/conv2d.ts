import type { Conv2dShape } from '@concord/backend-core';
import type { Reference, Values } from './result.ts';

/**
 * 2-d cross-correlation in float64: seven nested loops, one sum per output entry, terms outside the image left out. Transposed,
 * those taps that do not stand on a pixel are left out too.
 *
 * @returns `[N, K, P, Q]`, packed; `magnitude` is sum |input||filter|, `terms` are those of a transposed one
 */
export function conv2dReference(shape: Conv2dShape, input: Values, filter: Values): Reference {
  const [, channels, height, width] = shape.inputShape;
  const [, , filterHeight, filterWidth] = shape.filterShape;
  const [batch, filters, outputHeight, outputWidth] = shape.outputShape;
  const [strideH, strideW] = shape.stride ?? [1, 1];
  const [padTop, padLeft] = shape.padding ?? [0, 0];
  const [dilationH, dilationW] = shape.dilation ?? [1, 1];
  const { groups = 1, transposed = false } = shape;
  const [groupChannels, filtersPerGroup] = [channels / groups, filters / groups];
  const pixel = (place: number, pad: number, stride: number, tap: number): number =>
    transposed ? (place + pad - tap) / stride : place * stride - pad + tap;
  const isPixel = (at: number, size: number): boolean => at >= 0 && at < size && Number.isInteger(at);

  const value = new Float64Array(batch * filters * outputHeight * outputWidth);
  const magnitude = new Float64Array(value.length);
  const terms = new Uint32Array(value.length);
  let at = 0;
  for (let n = 0; n < batch; n++) {
    for (let k = 0; k < filters; k++) {
      const firstChannel = Math.floor(k / filtersPerGroup) * groupChannels;
      for (let p = 0; p < outputHeight; p++) {
        for (let q = 0; q < outputWidth; q++) {
          let sum = 0;
          let absolute = 0;
          for (let c = firstChannel; c < firstChannel + groupChannels; c++) {
            const plane = transposed
              ? c * filtersPerGroup + (k % filtersPerGroup)
              : k * groupChannels + c - firstChannel;
            for (let r = 0; r < filterHeight; r++) {
              const y = pixel(p, padTop, strideH, r * dilationH);
              if (!isPixel(y, height)) continue;
              for (let s = 0; s < filterWidth; s++) {
                const x = pixel(q, padLeft, strideW, s * dilationW);
                if (!isPixel(x, width)) continue;
                const image = input[((n * channels + c) * height + y) * width + x] as number;
                const weight = filter[(plane * filterHeight + r) * filterWidth + s] as number;
                sum += image * weight;
                absolute += Math.abs(image * weight);
                terms[at] = (terms[at] as number) + 1;
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
  return { value, magnitude, ...(transposed ? { terms } : {}) };
}
