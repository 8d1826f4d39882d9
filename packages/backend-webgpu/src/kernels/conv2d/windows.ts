import type { NamedVariant, VariantTable } from '@concord/variants';
import { BackendError, type FloatDType } from '@concord/backend-core';
import { BYTES_OF, type CheckedConv2d, type ResolvedConv2d } from '@concord/backend-core/implement';
import type { Kernel } from '../kernel.ts';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { bindable, slice } from '../operands.ts';
import type { FusedEpilogue } from '../epilogue/fused-epilogue.ts';

/** The facts that decide which kernel is chosen, of a convolution or of a window of it. */
export interface Conv2dShape {
  readonly groups: number;
  /** Filters per group. */
  readonly filters: number;
  /** Channels per group. */
  readonly channels: number;
  readonly images: number;
  /** Rows of each image's output. */
  readonly outputRows: number;
  readonly outputWidth: number;
  readonly filterHeight: number;
  readonly filterWidth: number;
  readonly strideH: number;
  readonly strideW: number;
  readonly dilationH: number;
  readonly dilationW: number;
  readonly isPadded: boolean;
}

/** A window of a convolution, with the pieces of the operands that it touches. */
export interface BoundWindow {
  readonly shape: Conv2dShape;
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
  /** Dtype of the output. */
  readonly stored: FloatDType;
  /** The uniforms of `window.wgsl.ts`. */
  readonly uniforms: Readonly<Record<string, number>>;
  /** The operation on each value of the output in the kernel that stores it. */
  readonly epilogue?: FusedEpilogue | undefined;
}

/** A variant, and into how many ranges the taps are split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** Kernels that convolve: all that the backend knows of them. */
export type Conv2dTable = VariantTable<Conv2dShape, BoundWindow, Recorder, Kernel, Variant>;

/** Places of the output for each filter. */
export function placesOf({ images, outputRows, outputWidth }: Conv2dShape): number {
  return images * outputRows * outputWidth;
}

/** Filters per group up to which a tile of a matrix product would be mostly empty. */
export const FEW_FILTERS = 8;

/** A range of one of the dimensions of a convolution. */
export interface Range {
  readonly first: number;
  readonly count: number;
}

/** A part of a convolution whose pieces of the operands each fit a binding. */
export interface Conv2dWindow {
  readonly images: Range;
  readonly groups: Range;
  /** The filters of each of the groups; all of them unless there is only one group. */
  readonly filters: Range;
  /** Output rows of each image; all of them unless there is only one image, and one filter. */
  readonly rows: Range;
  /** The channels of each of the groups. The sums over the channels of several windows are added up, in this order. */
  readonly channels: Range;
}

/** The sizes of a convolution that windows are measured with, in elements. */
export interface Conv2dSizes {
  readonly images: number;
  readonly groups: number;
  /** Filters per group. */
  readonly filters: number;
  /** Channels per group. */
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
interface Conv2dLimits {
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

  /** Returns the number of `total` that fit when each takes `each` elements; one if not even one fits. */
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

/** A window of a convolution, with operands that can be bound together. */
interface WindowOfCall {
  readonly call: ResolvedConv2d<StorageBuffer>;
  readonly sizes: Conv2dSizes;
  readonly window: Conv2dWindow;
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
  /** Dtype of the output. */
  readonly stored: FloatDType;
  readonly epilogue?: FusedEpilogue | undefined;
}

/** Coordinates are computed modulo this. */
export const MODULUS: number = 2 ** 32;

/** The facts that decide which kernel is chosen for a window. */
export function shapeOf({ call, sizes, window }: Pick<WindowOfCall, 'call' | 'sizes' | 'window'>): Conv2dShape {
  return {
    groups: window.groups.count,
    filters: window.filters.count,
    channels: window.channels.count,
    images: window.images.count,
    outputRows: window.rows.count,
    outputWidth: sizes.outputWidth,
    filterHeight: call.filterShape[2],
    filterWidth: call.filterShape[3],
    isPadded: call.padding.some((extent) => extent > 0),
    strideH: call.stride[0],
    strideW: call.stride[1],
    dilationH: call.dilation[0],
    dilationW: call.dilation[1],
  };
}

/** The pieces of the operands that a window touches, and what `window.wgsl.ts` has for uniforms. */
export function bindWindow(ofCall: WindowOfCall, storageAlignment: number): BoundWindow {
  const { call, sizes, window, stored, epilogue, ...operands } = ofCall;
  const { stride, padding, dilation, inputShape, filterShape } = call;
  const { images, groups, filters, rows, channels } = window;
  const { inputPlane, taps, outputRows, outputWidth } = sizes;
  const inputGroup = sizes.channels * inputPlane;
  const inputImage = sizes.groups * inputGroup;
  const filterStride = sizes.channels * taps;
  const outputPlane = outputRows * outputWidth;
  const outputImage = sizes.groups * sizes.filters * outputPlane;

  const bytes = BYTES_OF[call.dtype];
  const piece = (operand: Span, first: number, count: number, each = bytes) =>
    bindable(slice(operand, each * first, each * count), storageAlignment);
  const firstFilter = groups.first * sizes.filters + filters.first;
  const moreFilters = (groups.count - 1) * sizes.filters + filters.count - 1;
  const moreImages = images.count - 1;
  const input = piece(
    operands.input,
    images.first * inputImage + groups.first * inputGroup + channels.first * inputPlane,
    moreImages * inputImage + (groups.count - 1) * inputGroup + channels.count * inputPlane,
  );
  const weights = piece(
    operands.weights,
    firstFilter * filterStride + channels.first * taps,
    moreFilters * filterStride + channels.count * taps,
  );
  const output = piece(
    operands.output,
    images.first * outputImage + firstFilter * outputPlane + rows.first * outputWidth,
    moreImages * outputImage + moreFilters * outputPlane + rows.count * outputWidth,
    BYTES_OF[stored],
  );
  const uniforms = {
    groups: groups.count,
    filters: filters.count,
    channels: channels.count,
    height: inputShape[2],
    width: inputShape[3],
    filter_height: filterShape[2],
    filter_width: filterShape[3],
    output_height: outputRows,
    output_width: outputWidth,
    first_row: rows.first,
    rows: images.count * rows.count,
    stride_h: stride[0] % MODULUS,
    stride_w: stride[1] % MODULUS,
    pad_h: padding[0],
    pad_w: padding[1],
    dilation_h: dilation[0] % MODULUS,
    dilation_w: dilation[1] % MODULUS,
    input_at: input.byteOffset / bytes,
    filter_at: weights.byteOffset / bytes,
    output_at: output.byteOffset / BYTES_OF[stored],
    // A distance that nothing is apart may exceed 2^32.
    input_image: images.count > 1 ? inputImage : 0,
    input_group: groups.count > 1 ? inputGroup : 0,
    filter_stride: moreFilters > 0 ? filterStride : 0,
    output_image: images.count > 1 ? outputImage : 0,
    output_plane: moreFilters > 0 ? outputPlane : 0,
    accumulate: channels.first > 0 ? 1 : 0,
  };
  const spans = { input: input.span, weights: weights.span, output: output.span };
  return { shape: shapeOf(ofCall), ...spans, stored, uniforms, epilogue };
}
