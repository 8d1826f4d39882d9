import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { type NamedVariant, pickVariant } from '@concord/variants';
import { cuts } from '../cuts.ts';
import { packedStrides, planEpilogue, resultsOf, widened } from '../epilogue/plan-epilogue.ts';
import { secondsFor } from '../estimate.ts';
import { floatsFrom } from '../floats-from.ts';
import { gridOf } from '../grid.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceMemory, DeviceTraits, Recorder } from '../recorder.ts';
import { lanesToAskFor } from '../subgroups.ts';
import { type Conv2dVariant, DIRECT, TILES, variantsFor, WIDE } from './choose-variant.ts';
import { direct, DIRECT_LANES, type DirectParams } from './direct.spv.ts';
import { implicitGemm, type ImplicitGemmParams } from './implicit-gemm.spv.ts';
import { planWide } from './launch-wide.ts';
import { offsets } from './offsets.spv.ts';
import { pack } from './pack.spv.ts';
import { wide } from './wide.spv.ts';

export { VARIANT_IDS } from './choose-variant.ts';

type Call = ResolvedConv2d<DeviceMemory>;
type ChooseVariant = (call: Call, recorder: Recorder) => Conv2dVariant;

/**
 * conv2dForward: `output[n, k, p, q] = sum over c, r, s of input * filter`, by the kernel that suits shape and device.
 *
 * @param choose - how the kernel is chosen, for tests of one
 */
export function planConv2d(call: Call, recorder: Recorder, choose: ChooseVariant = chooseVariant): void {
  const { outputShape, dtype, epilogue } = call;
  if (dtype === 'f16') {
    planHalves(call, recorder, choose);
    return;
  }
  planFloats(call, recorder, choose);
  if (epilogue === undefined) return;
  const strides = packedStrides(outputShape);
  planEpilogue(call, outputShape, { strides, dtype }, call.output, { span: call.output, strides }, recorder);
}

/** By float32 copies of the operands, and one rounding at the end. */
function planHalves(call: Call, recorder: Recorder, choose: ChooseVariant): void {
  const { inputShape, filterShape, outputShape, dtype } = call;
  const input = widened(call.input, inputShape, packedStrides(inputShape), recorder).span;
  const filter = widened(call.filter, filterShape, packedStrides(filterShape), recorder).span;
  const results = resultsOf(outputShape, recorder);
  planFloats({ ...call, dtype: 'f32', input, filter, output: results.span }, recorder, choose);
  planEpilogue(call, outputShape, { strides: results.strides, dtype }, call.output, results, recorder);
}

function planFloats(call: Call, recorder: Recorder, choose: ChooseVariant): void {
  const variant = choose(call, recorder);
  if (variant.kind === 'wide') {
    planWide(call, variant, recorder);
    return;
  }
  for (const part of imagesInTime(call, recorder.traits)) {
    if (variant.kind === 'implicit-gemm') launchImplicitGemm(part, variant, recorder);
    else launchDirect(part, variant, recorder);
  }
}

/**
 * A call by as many images as about a second is enough for: kernel drivers take a device for hung that works on one launch for
 * long.
 */
function* imagesInTime(call: Call, traits: DeviceTraits): Generator<Call> {
  const [images, ...inputSizes] = call.inputShape;
  const [, ...outputSizes] = call.outputShape;
  const [inputImage, outputImage] = [inputSizes, outputSizes].map((sizes) => sizes.reduce((a, b) => a * b, 1)) as [
    number,
    number,
  ];
  const ofImage = secondsFor(multiplyAddsOf(call) / images, traits);
  for (const [first, count] of cuts(images, Math.max(1, Math.floor(1 / ofImage)))) {
    yield {
      ...call,
      inputShape: [count, ...inputSizes],
      outputShape: [count, ...outputSizes],
      input: floatsFrom(call.input, first * inputImage),
      output: floatsFrom(call.output, first * outputImage),
    };
  }
}

function chooseVariant(call: Call, recorder: Recorder): Conv2dVariant {
  return pickVariant(recorder, variantsFor(call, recorder.traits));
}

/** Every kernel of conv2dForward that can be chosen for a device. */
export function allKernels(traits: DeviceTraits): readonly Kernel[] {
  const directs = DIRECT.map(direct);
  const lanes = lanesToAskFor(traits);
  if (!traits.isCpuLike) return [...directs, ...TILES.map((params) => implicitGemm({ ...params, lanes }))];
  return [...directs, offsets, ...[false, true].map((isDense) => pack({ isDense })), ...WIDE.map(wide)];
}

function launchDirect(call: Call, params: NamedVariant & DirectParams, recorder: Recorder): void {
  const { inputShape, filterShape, outputShape, groups, input, filter, output } = call;
  const filters = filterShape[0] / groups;
  const outputPlane = outputShape[2] * outputShape[3];
  const places = outputShape[0] * outputPlane;
  recorder.launch({
    kernel: direct({ filters: params.filters }),
    args: {
      input,
      filter,
      output,
      groups,
      filters,
      channels: filterShape[1],
      height: inputShape[2],
      width: inputShape[3],
      filter_height: filterShape[2],
      filter_width: filterShape[3],
      output_width: outputShape[3],
      output_plane: outputPlane,
      places,
      ...windowArguments(call),
    },
    groups: gridOf(groups * Math.ceil(filters / params.filters) * Math.ceil(places / DIRECT_LANES), recorder.traits),
    multiplyAdds: multiplyAddsOf(call),
    variant: params.id,
  });
}

function launchImplicitGemm(call: Call, params: NamedVariant & ImplicitGemmParams, recorder: Recorder): void {
  const { inputShape, filterShape, outputShape, groups, input, filter, output } = call;
  const [images, channels, height, width] = inputShape;
  const filters = filterShape[0] / groups;
  const outputPlane = outputShape[2] * outputShape[3];
  const places = images * outputPlane;
  recorder.launch({
    kernel: implicitGemm({ tile: params.tile, piece: params.piece, lanes: lanesToAskFor(recorder.traits) }),
    args: {
      input,
      filter,
      output,
      groups,
      filters,
      places,
      input_image: channels * height * width,
      input_group: filterShape[1] * height * width,
      taps: filterShape[1] * filterShape[2] * filterShape[3],
      height,
      width,
      filter_height: filterShape[2],
      filter_width: filterShape[3],
      output_width: outputShape[3],
      output_plane: outputPlane,
      ...windowArguments(call),
      // With one output there is no distance, and it may exceed 32 bits.
      stride_h: call.stride[0] % 2 ** 32,
      stride_w: call.stride[1] % 2 ** 32,
    },
    groups: gridOf(groups * Math.ceil(filters / params.tile) * Math.ceil(places / params.tile), recorder.traits),
    multiplyAdds: multiplyAddsOf(call),
    variant: params.id,
  });
}

/** Arithmetic of a convolution. */
function multiplyAddsOf({ filterShape, outputShape }: Call): number {
  const outputs = outputShape.reduce((product, size) => product * size, 1);
  return outputs * filterShape[1] * filterShape[2] * filterShape[3];
}

function windowArguments({ stride, padding, dilation }: Call) {
  return {
    stride_h: stride[0],
    stride_w: stride[1],
    pad_h: padding[0],
    pad_w: padding[1],
    dilation_h: dilation[0],
    dilation_w: dilation[1],
  };
}
