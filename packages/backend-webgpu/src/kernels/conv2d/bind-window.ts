import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { bindable, slice } from '../operands.ts';
import type { Span, StorageBuffer } from '../recorder.ts';
import type { BoundWindow, Conv2dShape } from './table.ts';
import type { Conv2dSizes, Conv2dWindow } from './windows.ts';

/** A window of a convolution, with operands that can be bound together. */
export interface WindowOfCall {
  readonly call: ResolvedConv2d<StorageBuffer>;
  readonly sizes: Conv2dSizes;
  readonly window: Conv2dWindow;
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
}

/** Coordinates are computed modulo this. */
export const MODULUS: number = 2 ** 32;
const FLOAT_BYTES = 4;

/** The facts that decide which kernel is chosen for a window. */
export function shapeOf({ call, sizes, window }: WindowOfCall): Conv2dShape {
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
    strideW: call.stride[1],
    dilationW: call.dilation[1],
  };
}

/** The pieces of the operands that a window touches, and what `window.wgsl.ts` has for uniforms. */
export function bindWindow(ofCall: WindowOfCall, storageAlignment: number): BoundWindow {
  const { call, sizes, window, ...operands } = ofCall;
  const { stride, padding, dilation, inputShape, filterShape } = call;
  const { images, groups, filters, rows, channels } = window;
  const { inputPlane, taps, outputRows, outputWidth } = sizes;
  const inputGroup = sizes.channels * inputPlane;
  const inputImage = sizes.groups * inputGroup;
  const filterStride = sizes.channels * taps;
  const outputPlane = outputRows * outputWidth;
  const outputImage = sizes.groups * sizes.filters * outputPlane;

  const piece = (operand: Span, first: number, count: number) =>
    bindable(slice(operand, FLOAT_BYTES * first, FLOAT_BYTES * count), storageAlignment);
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
    input_at: input.byteOffset / FLOAT_BYTES,
    filter_at: weights.byteOffset / FLOAT_BYTES,
    output_at: output.byteOffset / FLOAT_BYTES,
    // A distance that nothing is apart may exceed 2^32.
    input_image: images.count > 1 ? inputImage : 0,
    input_group: groups.count > 1 ? inputGroup : 0,
    filter_stride: moreFilters > 0 ? filterStride : 0,
    output_image: images.count > 1 ? outputImage : 0,
    output_plane: moreFilters > 0 ? outputPlane : 0,
    accumulate: channels.first > 0 ? 1 : 0,
  };
  return { shape: shapeOf(ofCall), input: input.span, weights: weights.span, output: output.span, uniforms };
}
