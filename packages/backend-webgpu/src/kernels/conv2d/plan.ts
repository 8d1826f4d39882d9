import { BackendError } from '@concord/backend-core';
import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { floatResults } from '../epilogue/plan-epilogue.ts';
import type { Kernel } from '../kernel.ts';
import { maxLoopIterations } from '../loop-iterations.ts';
import { apartFrom, bindingSlack } from '../operands.ts';
import type { DeviceTraits, Recorder, StorageBuffer } from '../recorder.ts';
import { type Family, sizeStep, VariantTables } from '@concord/variants';
import {
  bindWindow,
  type BoundWindow,
  type Conv2dShape,
  conv2dSizes,
  conv2dWindows,
  MODULUS,
  placesOf,
  shapeOf,
  type Variant,
} from './windows.ts';
import { directTable } from './direct.wgsl.ts';
import { implicitGemmTable } from './implicit-gemm.wgsl.ts';

type ChooseVariant = (shape: Conv2dShape, recorder: Recorder) => Variant;

/** Kernels that convolve. A new one is added here, and nothing else has to know of it. */
export const conv2dTables: VariantTables<Conv2dShape, BoundWindow, Recorder, Kernel, Variant> = new VariantTables(
  [implicitGemmTable, directTable],
  (shape) => {
    const { groups, filters, channels, filterHeight, filterWidth } = shape;
    return `conv2d ${filterHeight}x${filterWidth} ${[groups, filters, channels, placesOf(shape)].map(sizeStep).join(' ')}`;
  },
);

/** conv2dForward. */
export const conv2dFamily: Family<'conv2dForward', StorageBuffer, Recorder, Kernel> = {
  kernel: 'conv2dForward',
  dtypes: ['f32', 'f16'],
  features: ['epilogues', 'transposed', 'dtypeFilter f16', 'dtypeFilter bf16'],
  plan: planConv2d,
  tables: [conv2dTables],
};

/**
 * conv2dForward: NCHW x KCRS to NKPQ, with stride, padding, dilation and groups, in as many launches as it takes for
 * each piece of an operand to fit a binding.
 *
 * @param choose - gives the kernel for a window; tests have their own
 * @throws {BackendError} UNSUPPORTED when a channel of an image or of a filter or an output row does not fit a binding,
 *   when image and padding together are longer than 2^32, or when a filter has too many taps for a software device
 */
export function planConv2d(
  call: ResolvedConv2d<StorageBuffer>,
  recorder: Recorder,
  choose: ChooseVariant = chooseVariant,
): void {
  floatResults.convolution(call, recorder, (floats) => planFloats(floats, recorder, choose));
}

function planFloats(call: ResolvedConv2d<StorageBuffer>, recorder: Recorder, choose: ChooseVariant): void {
  checkCoordinates(call);
  const { storageAlignment, maxBindingBytes } = recorder.traits;
  const sizes = conv2dSizes(call);
  const input = apartFrom(call.output, call.input, recorder);
  const weights = apartFrom(call.output, call.filter, recorder);
  const elements = Math.floor((maxBindingBytes - bindingSlack(storageAlignment)) / 4);
  for (const window of conv2dWindows(sizes, { elements, channels: maxChannels(call, recorder.traits) })) {
    const ofCall = { call, sizes, window, input, weights, output: call.output };
    const variant = choose(shapeOf(ofCall), recorder);
    conv2dTables.launch(bindWindow(ofCall, storageAlignment), variant, recorder);
  }
}

function chooseVariant(shape: Conv2dShape, recorder: Recorder): Variant {
  return conv2dTables.choose(shape, recorder);
}

/**
 * Coordinates run from -padding to size + padding - 1. If those are at most 2^32, none in the padding is congruent to
 * one in the image.
 */
function checkCoordinates({ inputShape, padding }: ResolvedConv2d<StorageBuffer>): void {
  for (const [axis, name] of ['height', 'width'].entries()) {
    const size = inputShape[axis + 2] as number;
    const pad = Math.max(padding[axis] as number, padding[axis + 2] as number);
    if (size + pad > MODULUS) {
      throw new BackendError(
        'UNSUPPORTED',
        `${name} ${size} with padding ${pad} exceeds 2^32, the range of coordinates`,
      );
    }
  }
}

/** The channels that a launch can go through before its loops take too many iterations. */
function maxChannels({ filterShape }: ResolvedConv2d<StorageBuffer>, traits: DeviceTraits): number {
  const [, , filterHeight, filterWidth] = filterShape;
  const iterationsPerRow = 1 + filterWidth + 1;
  const iterationsPerChannel = 1 + filterHeight * iterationsPerRow + 2;
  const channels = Math.floor((maxLoopIterations(traits) - 3) / iterationsPerChannel);
  if (channels === 0) {
    throw new BackendError(
      'UNSUPPORTED',
      `a ${filterHeight} x ${filterWidth} filter is too large for a software device`,
    );
  }
  return channels;
}
