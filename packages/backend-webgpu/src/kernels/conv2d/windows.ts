import { BackendError } from '@concord/backend-core';
import type { CheckedConv2d } from '@concord/backend-core/implement';

/** A range of one of the dimensions of a convolution. */
export interface Range {
  readonly first: number;
  readonly count: number;
}

/** A part of a convolution whose pieces of the operands each fit a binding. */
export interface Conv2dWindow {
  readonly images: Range;
  readonly groups: Range;
  /** Of each of the groups; all of them unless there is only one group. */
  readonly filters: Range;
  /** Output rows of each image; all of them unless there is only one image, and one filter. */
  readonly rows: Range;
  /** Of each of the groups. The sums over the channels of several windows are added up, in this order. */
  readonly channels: Range;
}

/** The sizes of a convolution that windows are measured with, in elements. */
export interface Conv2dSizes {
  readonly images: number;
  readonly groups: number;
  /** Per group. */
  readonly filters: number;
  /** Per group. */
  readonly channels: number;
  readonly outputRows: number;
  readonly outputWidth: number;
  readonly inputPlane: number;
  /** A filter's weights for one channel. */
  readonly taps: number;
}

/** The sizes of a checked call. */
export function conv2dSizes({ inputShape, filterShape, outputShape, groups }: CheckedConv2d): Conv2dSizes {
  const [images, channels, height, width] = inputShape;
  const [filters, , filterHeight, filterWidth] = filterShape;
  const [, , outputRows, outputWidth] = outputShape;
  return {
    images,
    groups,
    filters: filters / groups,
    channels: channels / groups,
    outputRows,
    outputWidth,
    inputPlane: height * width,
    taps: filterHeight * filterWidth,
  };
}

/** The maximal extent of a window. */
export interface Conv2dLimits {
  /** Elements of a piece of an operand. */
  readonly elements: number;
  /** Channels, at least 1. */
  readonly channels: number;
}

/**
 * Cuts a convolution into windows whose pieces of input, filter and output respect limits: as many images as fit, or of
 * one image as many groups, or of one group as many filters and channels, or of one filter as many output rows.
 *
 * @throws {BackendError} UNSUPPORTED when a channel of an image or of a filter, or an output row, does not fit
 */
export function* conv2dWindows(sizes: Conv2dSizes, limits: Conv2dLimits): Generator<Conv2dWindow> {
  const limit = limits.elements;
  const { inputPlane, taps, outputRows, outputWidth } = sizes;
  const outputPlane = outputRows * outputWidth;
  const groupInput = sizes.channels * inputPlane;
  const groupOutput = sizes.filters * outputPlane;
  const filterSize = sizes.channels * taps;
  for (const [what, elements] of Object.entries({
    'an input plane': inputPlane,
    'a channel of a filter': taps,
    'an output row': outputWidth,
  })) {
    if (elements > limit) {
      const bytes = 4 * elements;
      throw new BackendError(
        'UNSUPPORTED',
        `${what} needs a binding of ${bytes} bytes, this device binds at most ${4 * limit}`,
      );
    }
  }

  /** As many of `total` as fit when each takes `each` elements; one where not even one fits. */
  const fitting = (total: number, ...each: readonly number[]): number =>
    Math.max(1, Math.min(total, Math.floor(limit / Math.max(...each))));
  const images = fitting(sizes.images, sizes.groups * groupInput, sizes.groups * groupOutput);
  const groups = fitting(sizes.groups, groupInput, groupOutput, sizes.filters * filterSize);
  const channels = Math.min(limits.channels, fitting(sizes.channels, inputPlane, taps));
  // Some of the channels of several filters lie a whole filter apart.
  const filtersBound = 1 + Math.floor((limit - channels * taps) / filterSize);
  const filters = Math.min(filtersBound, fitting(sizes.filters, outputPlane));
  const rows = fitting(outputRows, outputWidth);

  for (const imageRange of ranges(sizes.images, images)) {
    for (const groupRange of ranges(sizes.groups, groups)) {
      for (const filterRange of ranges(sizes.filters, filters)) {
        for (const rowRange of ranges(outputRows, rows)) {
          for (const channelRange of ranges(sizes.channels, channels)) {
            yield {
              images: imageRange,
              groups: groupRange,
              filters: filterRange,
              rows: rowRange,
              channels: channelRange,
            };
          }
        }
      }
    }
  }
}

function* ranges(total: number, size: number): Generator<Range> {
  for (let first = 0; first < total; first += size) yield { first, count: Math.min(size, total - first) };
}
