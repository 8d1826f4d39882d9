import type { Conv2dShape, ImageShape } from '@concord/backend-core';
import { conv2dReference } from '@concord/backend-cpu/reference';

/** The filters that are applied to a picture. */
export interface Filters {
  /** Radius of the blur, in pixels; 0 for none. */
  readonly blur: number;
  /** True if edges are looked for, after the blur. */
  readonly edges: boolean;
}

/** One convolution. The output of each is the input of the next. */
export interface FilterStep {
  readonly shape: Conv2dShape;
  /** K x C x R x S, as `shape.filterShape` says. */
  readonly filter: readonly number[];
}

/**
 * Up to here every sum is an integer of at most 24 bits times a power of two: exact in float32 in any order, so that
 * all devices give the same pixels. 8 bits a pixel, 4 bits a pixel of radius, 3 bits of the edge filter.
 */
export const MAX_BLUR = 3;

/** Red, green and blue are filtered each by itself: as many groups, one filter (or two) in each. */
export const CHANNELS = 3;

const SOBEL_X = [-1, 0, 1, -2, 0, 2, -1, 0, 1];
const SOBEL_Y = [-1, -2, -1, 0, 0, 0, 1, 2, 1];

/** By how much the filters make a picture smaller on each of its four sides. */
export function marginOf({ blur, edges }: Filters): number {
  return blur + (edges ? 1 : 0);
}

/**
 * The convolutions for a picture that is larger by {@link marginOf} on each side than the result: a blur by rows, one by
 * columns, then the Sobel operator, which gives two planes for each channel: the slopes to the right and downwards.
 */
export function filterSteps(width: number, height: number, filters: Filters): FilterStep[] {
  const size = 2 * filters.blur + 1;
  const weights = binomialWeights(filters.blur);
  const margin = 2 * marginOf(filters);
  const steps: FilterStep[] = [];
  let inputShape: ImageShape = [1, CHANNELS, height + margin, width + margin];
  const add = (perChannel: number, rows: number, columns: number, filter: readonly number[]): void => {
    const [, , inputHeight, inputWidth] = inputShape;
    const outputShape: ImageShape = [1, CHANNELS * perChannel, inputHeight - rows + 1, inputWidth - columns + 1];
    steps.push({
      shape: {
        inputShape,
        filterShape: [CHANNELS * perChannel, 1, rows, columns],
        outputShape,
        groups: CHANNELS,
      },
      filter: Array.from({ length: CHANNELS }, () => filter).flat(),
    });
    inputShape = outputShape;
  };
  if (filters.blur > 0) {
    add(1, 1, size, weights);
    add(1, size, 1, weights);
  }
  if (filters.edges) add(2, 3, 3, [...SOBEL_X, ...SOBEL_Y]);
  return steps;
}

/** `C(2 r, i) / 4^r`: close to a Gaussian of standard deviation sqrt(r / 2), sums to 1, exact in float32. */
function binomialWeights(radius: number): number[] {
  let row = [1];
  for (let i = 0; i < 2 * radius; i++) row = [...row, 0].map((value, at) => (value + (row[at - 1] ?? 0)) / 2);
  return row;
}

/** Runs the steps on the float64 oracle, which every value of the device has to equal, and counts those that do not. */
export function checkSteps(
  steps: readonly FilterStep[],
  planes: Float32Array,
  got: Float32Array,
): { readonly values: number; readonly different: number } {
  let want: ArrayLike<number> = planes;
  for (const { shape, filter } of steps) want = conv2dReference(shape, want, filter).value;
  const different = got.filter((value, index) => value !== want[index]).length;
  return { values: want.length, different: different + Math.abs(want.length - got.length) };
}
