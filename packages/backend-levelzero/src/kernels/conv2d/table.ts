import type { CheckedConv2d, ResolvedConv2d } from '@concord/backend-core/implement';
import type { NamedVariant, VariantTable } from '@concord/variants';
import { cuts, secondsFor } from '../work.ts';
import { type DeviceMemory, type DeviceTraits, floatsFrom, type Launch, type Recorder } from '../recorder.ts';
import type { Kernel } from '../kernel.ts';

/** A call with its operands. */
export type Call = ResolvedConv2d<DeviceMemory>;

/** Kernels that convolve: all that the backend knows of them. */
export type Conv2dTable = VariantTable<CheckedConv2d, Call, Recorder, Kernel, NamedVariant>;

/** Filters per group up to which a tile of a matrix product would be mostly empty. */
export const FEW_FILTERS = 8;

/** Coordinates and offsets in a group of channels, those in the padding included, modulo 2^32 without coinciding. */
export function fitsIn32Bits({
  inputShape,
  filterShape,
  outputShape,
  padding,
  dilation,
  groups,
}: CheckedConv2d): boolean {
  const [, channels, height, width] = inputShape;
  const [, , filterHeight, filterWidth] = filterShape;
  const sizes = [
    (channels / groups) * height * width,
    (channels / groups) * filterHeight * filterWidth,
    outputShape[2] * outputShape[3],
    height + padding[0] + padding[2] + filterHeight * dilation[0],
    width + padding[1] + padding[3] + filterWidth * dilation[1],
  ];
  return sizes.every((size) => size < 2 ** 31);
}

/** A part of a call, and the arguments that kernels have in common which take a convolution as it is. */
interface Part {
  readonly call: Call;
  readonly args: Launch['args'] & Readonly<Record<'groups' | 'filters' | 'places', number>>;
}

function argumentsOf(call: Call): Part['args'] {
  const { inputShape, filterShape, outputShape, groups, stride, padding, dilation, input, filter, output } = call;
  const outputPlane = outputShape[2] * outputShape[3];
  return {
    ...{ input, filter, output, groups, filters: filterShape[0] / groups },
    height: inputShape[2],
    width: inputShape[3],
    filter_height: filterShape[2],
    filter_width: filterShape[3],
    output_width: outputShape[3],
    output_plane: outputPlane,
    places: outputShape[0] * outputPlane,
    ...{ stride_h: stride[0], stride_w: stride[1] },
    ...{ pad_h: padding[0], pad_w: padding[1] },
    ...{ dilation_h: dilation[0], dilation_w: dilation[1] },
  };
}

/**
 * The parts of a call, of as many images as about a second is enough for: kernel drivers take a device for hung that works on one launch for
 * long.
 */
export function* partsInTime(call: Call, traits: DeviceTraits): Generator<Part> {
  const [images, ...inputSizes] = call.inputShape;
  const [, ...outputSizes] = call.outputShape;
  const [inputImage, outputImage] = [inputSizes, outputSizes].map((sizes) => sizes.reduce((a, b) => a * b, 1)) as [
    number,
    number,
  ];
  const ofImage = secondsFor(multiplyAddsOf(call) / images, traits);
  for (const [first, count] of cuts(images, Math.max(1, Math.floor(1 / ofImage)))) {
    const part: Call = {
      ...call,
      inputShape: [count, ...inputSizes],
      outputShape: [count, ...outputSizes],
      input: floatsFrom(call.input, first * inputImage),
      output: floatsFrom(call.output, first * outputImage),
    };
    yield { call: part, args: argumentsOf(part) };
  }
}

/** Arithmetic of a convolution. */
export function multiplyAddsOf({ filterShape, outputShape }: Call): number {
  const outputs = outputShape.reduce((product, size) => product * size, 1);
  return outputs * filterShape[1] * filterShape[2] * filterShape[3];
}
