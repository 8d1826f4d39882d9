/**
 * conv2dForward row by row: for groups of one or two filters (depthwise), where a matrix product would waste its
 * tiles, and for filters with infinities or NaN in them, which must not meet the zeros of the padding.
 *
 * Every row of output is summed in a float64 scratch, one row of taps after the other, straight from the input. For
 * each tap the range of pixels for which it lies inside the image is worked out beforehand. Taps are taken three at a
 * time over the range they share, so that a sum is loaded and stored once for three multiplications.
 */

import type { CheckedConv2d } from '@concord/backend-core/implement';

/** Pixels summed at a time. */
const STRIP = 1024;

const sums = new Float64Array(STRIP);

/** One row of input and the taps that meet it: `sums[i] += filter[tap + s] * input[from + i * stride + s * dilation]`. */
interface TapRow {
  readonly input: Float32Array;
  /** Where the row of the image begins in `input`. */
  readonly rowStart: number;
  readonly width: number;
  /** Column of the image under the first tap of pixel 0; may be negative. */
  readonly left: number;
  readonly stride: number;
  readonly dilation: number;
  readonly filter: Float32Array;
  readonly tap: number;
  readonly taps: number;
  readonly pixels: number;
}

/** All output of one group of one image. */
export function convolveRows(
  call: CheckedConv2d,
  image: number,
  group: number,
  input: Float32Array,
  filter: Float32Array,
  output: Float32Array,
): void {
  const [, channels, height, width] = call.inputShape;
  const [filters, groupChannels, filterHeight, filterWidth] = call.filterShape;
  const [, , outputHeight, outputWidth] = call.outputShape;
  const filtersPerGroup = filters / call.groups;
  const firstFilter = group * filtersPerGroup;
  const firstChannel = image * channels + group * groupChannels;

  for (let k = firstFilter; k < firstFilter + filtersPerGroup; k++) {
    for (let y = 0; y < outputHeight; y++) {
      for (let x = 0; x < outputWidth; x += STRIP) {
        const pixels = Math.min(STRIP, outputWidth - x);
        sums.fill(0, 0, pixels);
        for (let c = 0; c < groupChannels; c++) {
          for (let r = 0; r < filterHeight; r++) {
            const row = y * call.stride[0] - call.padding[0] + r * call.dilation[0];
            if (row < 0 || row >= height) continue;
            addTaps({
              input,
              rowStart: ((firstChannel + c) * height + row) * width,
              width,
              left: x * call.stride[1] - call.padding[1],
              stride: call.stride[1],
              dilation: call.dilation[1],
              filter,
              tap: ((k * groupChannels + c) * filterHeight + r) * filterWidth,
              taps: filterWidth,
              pixels,
            });
          }
        }
        const to = ((image * filters + k) * outputHeight + y) * outputWidth + x;
        for (let i = 0; i < pixels; i++) output[to + i] = sums[i] as number;
      }
    }
  }
}

function addTaps(row: TapRow): void {
  let s = 0;
  for (; s + 3 <= row.taps; s += 3) {
    // first .. end - 1 sees all three; what one of them sees beside that is added alone.
    const first = Math.max(firstInside(row, s), firstInside(row, s + 1), firstInside(row, s + 2));
    const end = Math.max(first, Math.min(endInside(row, s), endInside(row, s + 1), endInside(row, s + 2)));
    addThreeTaps(row, s, first, end);
    for (let t = s; t < s + 3; t++) {
      addTap(row, t, firstInside(row, t), Math.min(first, endInside(row, t)));
      addTap(row, t, Math.max(end, firstInside(row, t)), endInside(row, t));
    }
  }
  for (; s < row.taps; s++) addTap(row, s, firstInside(row, s), endInside(row, s));
}

/** First pixel that sees tap s inside the image. */
function firstInside(row: TapRow, s: number): number {
  return Math.min(row.pixels, Math.max(0, Math.ceil(-(row.left + s * row.dilation) / row.stride)));
}

/** One after the last pixel that sees tap s inside the image. */
function endInside(row: TapRow, s: number): number {
  return Math.min(row.pixels, Math.max(0, Math.ceil((row.width - row.left - s * row.dilation) / row.stride)));
}

function addThreeTaps(row: TapRow, s: number, first: number, end: number): void {
  const { input, stride, dilation, filter, tap } = row;
  const w0 = filter[tap + s] as number;
  const w1 = filter[tap + s + 1] as number;
  const w2 = filter[tap + s + 2] as number;
  let from = row.rowStart + row.left + s * dilation + first * stride;
  for (let i = first; i < end; i++, from += stride) {
    sums[i] =
      (sums[i] as number) +
      w0 * (input[from] as number) +
      w1 * (input[from + dilation] as number) +
      w2 * (input[from + 2 * dilation] as number);
  }
}

function addTap(row: TapRow, s: number, first: number, end: number): void {
  const { input, stride } = row;
  const w = row.filter[row.tap + s] as number;
  let from = row.rowStart + row.left + s * row.dilation + first * stride;
  for (let i = first; i < end; i++, from += stride) sums[i] = (sums[i] as number) + w * (input[from] as number);
}
