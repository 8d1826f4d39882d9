import type { CheckedConv2d } from '@concord/backend-core/implement';

/**
 * The layout of images for the `wide` kernel: for each tap the inputs of neighbouring places of an output row are
 * neighbours, whatever the stride, and the rows of places are one distance apart.
 *
 * The rows and columns of the padded image are sorted by their remainder after division by the stride, their *phase*: a
 * channel is `[row phases][column phases][rows][pitch]`, and row i of phase f is row `i * stride + f` of the padded image.
 * Tap r, s reads phase `r * dilation % stride` of the rows, from row `p + floor(r * dilation / stride)` on for the output row
 * p; columns alike. Only what some tap reads is there.
 */
export interface WideLayout {
  readonly rowPhases: number;
  readonly columnPhases: number;
  /** Of a phase: those of the output, and as many more as the filter reaches. */
  readonly rows: number;
  readonly pitch: number;
  /** Elements of a channel. */
  readonly channelPitch: number;
  /** Places of a plane, with those between the rows of the output: up to its last element. */
  readonly places: number;
}

/** The layout for `outputRows` rows of the output of a convolution. */
export function wideLayout(call: CheckedConv2d, outputRows: number): WideLayout {
  const { filterShape, outputShape, stride, dilation } = call;
  const rowPhases = phases(filterShape[2], stride[0], dilation[0]);
  const columnPhases = phases(filterShape[3], stride[1], dilation[1]);
  const rows = outputRows + Math.floor(((filterShape[2] - 1) * dilation[0]) / stride[0]);
  const pitch = outputShape[3] + Math.floor(((filterShape[3] - 1) * dilation[1]) / stride[1]);
  return {
    rowPhases,
    columnPhases,
    rows,
    pitch,
    channelPitch: rowPhases * columnPhases * rows * pitch,
    places: (outputRows - 1) * pitch + outputShape[3],
  };
}

/** Returns whether the input itself has this layout: no padding, stride 1. */
export function isOwnLayout({ stride, padding }: CheckedConv2d): boolean {
  return [...stride, ...padding].every((size, index) => size === (index < 2 ? 1 : 0));
}

/** One more than the largest phase that a tap reads. */
function phases(taps: number, stride: number, dilation: number): number {
  let largest = 0;
  // Phases repeat after `stride` taps at the latest.
  for (let tap = 0; tap < Math.min(taps, stride); tap++)
    largest = Math.max(largest, (tap * (dilation % stride)) % stride);
  return largest + 1;
}
