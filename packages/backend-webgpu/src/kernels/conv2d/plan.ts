import { BackendError } from '@concord/backend-core';
import type { ResolvedConv2d } from '@concord/backend-core/implement';
import type { Kernel } from '../kernel.ts';
import { maxLoopTurns } from '../loop-turns.ts';
import { apartFrom, bindable, bindingSlack, slice } from '../operands.ts';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { chooseVariant, conv2dKernels, type Conv2dShapeTraits } from './choose-variant.ts';
import { type Conv2dSizes, conv2dSizes, type Conv2dWindow, conv2dWindows } from './windows.ts';

/** Coordinates are computed modulo this. */
const MODULUS = 2 ** 32;

/**
 * conv2dForward: NCHW x KCRS to NKPQ, with stride, padding, dilation and groups, in as many launches as it takes for
 * each piece of an operand to fit a binding.
 *
 * @throws {BackendError} UNSUPPORTED when a channel of an image or of a filter or an output row does not fit a binding,
 *   when image and padding together are longer than 2^32, or when a filter has too many taps for a software device
 */
export function planConv2d(call: ResolvedConv2d<StorageBuffer>, recorder: Recorder): void {
  checkCoordinates(call);
  const { storageAlignment, maxBindingBytes } = recorder.traits;
  const sizes = conv2dSizes(call);
  const input = apartFrom(call.output, call.input, recorder);
  const weights = apartFrom(call.output, call.filter, recorder);
  const elements = Math.floor((maxBindingBytes - bindingSlack(storageAlignment)) / 4);
  for (const window of conv2dWindows(sizes, { elements, channels: maxChannels(call, recorder.traits) })) {
    launchWindow(call, sizes, window, { input, weights, output: call.output }, recorder);
  }
}

/** Every kernel of conv2dForward for a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  return conv2dKernels(traits);
}

/**
 * Coordinates run from -padding to size + padding - 1. If those are at most 2^32, none in the padding is congruent to
 * one in the image.
 */
function checkCoordinates({ inputShape, padding }: ResolvedConv2d<StorageBuffer>): void {
  for (const [axis, name] of ['height', 'width'].entries()) {
    const size = inputShape[axis + 2] as number;
    const pad = padding[axis] as number;
    if (size + pad > MODULUS) {
      throw new BackendError(
        'UNSUPPORTED',
        `${name} ${size} with padding ${pad} exceeds 2^32, the range of coordinates`,
      );
    }
  }
}

/** The channels that a launch can go through before its loops take too many turns. */
function maxChannels({ filterShape }: ResolvedConv2d<StorageBuffer>, traits: DeviceTraits): number {
  const [, , filterHeight, filterWidth] = filterShape;
  const turnsPerRow = 1 + filterWidth + 1;
  const turnsPerChannel = 1 + filterHeight * turnsPerRow + 2;
  const channels = Math.floor((maxLoopTurns(traits) - 3) / turnsPerChannel);
  if (channels === 0) {
    throw new BackendError(
      'UNSUPPORTED',
      `a ${filterHeight} x ${filterWidth} filter is too large for a software device`,
    );
  }
  return channels;
}

interface Operands {
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
}

function launchWindow(
  call: ResolvedConv2d<StorageBuffer>,
  sizes: Conv2dSizes,
  window: Conv2dWindow,
  operands: Operands,
  recorder: Recorder,
): void {
  const { stride, padding, dilation, inputShape, filterShape } = call;
  const { images, groups, filters, rows, channels } = window;
  const { inputPlane, taps, outputRows, outputWidth } = sizes;
  const inputGroup = sizes.channels * inputPlane;
  const inputImage = sizes.groups * inputGroup;
  const filterStride = sizes.channels * taps;
  const outputPlane = outputRows * outputWidth;
  const outputImage = sizes.groups * sizes.filters * outputPlane;

  const { storageAlignment } = recorder.traits;
  const piece = (operand: Span, first: number, count: number) =>
    bindable(slice(operand, 4 * first, 4 * count), storageAlignment);
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

  const shape: Conv2dShapeTraits = {
    groups: groups.count,
    filters: filters.count,
    outputRows: images.count * rows.count,
    outputWidth,
    filterWidth: filterShape[3],
    strideW: stride[1],
    dilationW: dilation[1],
  };
  const variant = chooseVariant(shape, recorder.traits);
  recorder.launch({
    kernel: variant.kernel,
    storage: { input: input.span, weights: weights.span, output: output.span },
    groups: variant.groups(shape),
    uniforms: {
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
      input_at: input.byteOffset / 4,
      filter_at: weights.byteOffset / 4,
      output_at: output.byteOffset / 4,
      // A distance that nothing is apart may exceed 2^32.
      input_image: images.count > 1 ? inputImage : 0,
      input_group: groups.count > 1 ? inputGroup : 0,
      filter_stride: moreFilters > 0 ? filterStride : 0,
      output_image: images.count > 1 ? outputImage : 0,
      output_plane: moreFilters > 0 ? outputPlane : 0,
      accumulate: channels.first > 0 ? 1 : 0,
    },
  });
}
