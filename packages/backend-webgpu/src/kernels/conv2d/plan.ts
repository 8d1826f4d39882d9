import { BackendError } from '@concord/backend-core';
import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { floatResults } from '../run/plan-run.ts';
import type { Kernel } from '../kernel.ts';
import { type DeviceTraits, maxLoopIterations, type Recorder, type StorageBuffer } from '../recorder.ts';
import { apartFrom, bindingSlack } from '../operands.ts';
import { type Family, sizeStep, VariantTables } from '@concord/variants';
import {
  bindWindow,
  type BoundWindow,
  type Conv2dShape,
  type Conv2dSizes,
  conv2dSizes,
  conv2dWindows,
  MODULUS,
  placesOf,
  type Range,
  shapeOf,
  type Variant,
} from './windows.ts';
import { depthwiseTable } from './depthwise.wgsl.ts';
import { directTable } from './direct.wgsl.ts';
import { implicitGemmTable } from './implicit-gemm.wgsl.ts';
import { matrixConv2dTable } from './matrix-units.wgsl.ts';
import { type FusedEpilogue, fusedEpilogue } from '../epilogue/fused-epilogue.ts';
import { finish } from '../gemm/finish.wgsl.ts';
import { VECTOR } from '../gemm/matrix-tile.ts';
import { planGemm } from '../gemm/plan.ts';

const FLOAT_BYTES = 4;

type ChooseVariant = (shape: Conv2dShape, recorder: Recorder) => Variant;

/** Kernels that convolve. A new one is added here, and nothing else has to know of it. */
export const conv2dTables: VariantTables<Conv2dShape, BoundWindow, Recorder, Kernel, Variant> = new VariantTables(
  [implicitGemmTable, depthwiseTable, directTable],
  (shape) => `conv2d ${classOf(shape)}`,
);

/** Kernels that convolve f16 without float32 copies. */
export const halvesTables: VariantTables<Conv2dShape, BoundWindow, Recorder, Kernel, Variant> = new VariantTables(
  [matrixConv2dTable],
  (shape) => `conv2d f16 ${classOf(shape)}`,
);

function classOf(shape: Conv2dShape): string {
  const { groups, filters, channels, filterHeight, filterWidth } = shape;
  return `${filterHeight}x${filterWidth} ${[groups, filters, channels, placesOf(shape)].map(sizeStep).join(' ')}`;
}

/** conv2dForward. */
export const conv2dFamily: Family<'conv2dForward', StorageBuffer, Recorder, Kernel> = {
  kernel: 'conv2dForward',
  dtypes: ['f32', 'f16'],
  features: ['epilogues', 'transposed', 'dtypeFilter f16', 'dtypeFilter bf16'],
  plan: planConv2d,
  tables: [conv2dTables, halvesTables, finish],
};

/**
 * conv2dForward: NCHW x KCRS to NKPQ, with stride, padding, dilation and groups, in as many launches as it takes for
 * each piece of an operand to fit a binding. f16 on matrix units as it is, where it is one piece; else by float32 copies.
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
  if (call.dtype === 'f16' && !call.transposed && planHalves(call, recorder)) return;
  floatResults.convolution(call, recorder, (floats) => planFloats(floats, recorder, choose));
}

/** Plans a convolution of f16 whose filters have one tap as the product of them with each image, where that reads by vectors. */
function planPointwise(call: ResolvedConv2d<StorageBuffer>, sizes: Conv2dSizes, recorder: Recorder): boolean {
  const { input: b, filter: a, output: c, stride, padding, epilogue, opName } = call;
  const { images: batchCount, groups, filters: m, channels: k, taps, inputPlane: n } = sizes;
  const isPlain = taps * groups * stride[0] * stride[1] === 1 && padding.every((extent) => extent === 0);
  const isByVectors = [k, n, a.byteOffset / 2, b.byteOffset / 2].every((elements) => elements % VECTOR === 0);
  if (!isPlain || !isByVectors || epilogue !== undefined) return false;
  const layout = { lda: k, ldb: n, ldc: n, strideA: 0, strideB: k * n, strideC: m * n, transA: false, transB: false };
  const plain = { dtype: 'f16', dtypeB: undefined, alpha: 1, beta: 0, operands: [], epilogue } as const;
  planGemm({ opName, m, n, k, batchCount, ...layout, ...plain, a, b, c }, recorder);
  return true;
}

/** Plans a convolution of f16 that is one window, where there are kernels for it; returns whether that is so. */
function planHalves(call: ResolvedConv2d<StorageBuffer>, recorder: Recorder): boolean {
  checkCoordinates(call);
  const { traits } = recorder;
  const sizes = conv2dSizes(call);
  const all = (count: number): Range => ({ first: 0, count });
  const { images, groups, filters, channels, outputRows, outputWidth } = sizes;
  const window = {
    images: all(images),
    groups: all(groups),
    filters: all(filters),
    rows: all(outputRows),
    channels: all(channels),
  };
  const entries = images * groups * filters * outputRows * outputWidth;
  const most = traits.maxBindingBytes - bindingSlack(traits.storageAlignment);
  if (Math.max(call.input.byteLength, call.filter.byteLength, FLOAT_BYTES * entries) > most) return false;
  const shape = shapeOf({ call, sizes, window });
  if (matrixConv2dTable.candidates(shape, traits) === undefined) return false;
  if (planPointwise(call, sizes, recorder)) return true;
  const operands = {
    input: apartFrom(call.output, call.input, recorder),
    weights: apartFrom(call.output, call.filter, recorder),
    output: call.output,
  };
  const ofCall = { call, sizes, window, ...operands, stored: 'f16' } as const;
  const variant = halvesTables.choose(shape, recorder);
  const { outputShape, dtype, epilogue: hasEpilogue } = call;
  const epilogue = variant.splits === 1 ? fusedEpilogue(call, call.output, recorder) : undefined;
  if (hasEpilogue === undefined || epilogue !== undefined) {
    halvesTables.launch(bindWindow({ ...ofCall, epilogue }, traits.storageAlignment), variant, recorder);
    return true;
  }
  const results = floatResults.scratch(outputShape, recorder);
  const floats = { ...ofCall, output: results.span, stored: 'f32' } as const;
  halvesTables.launch(bindWindow(floats, traits.storageAlignment), variant, recorder);
  floatResults.finish(call, outputShape, { strides: results.strides, dtype }, call.output, results, recorder);
  return true;
}

/** Plans a convolution of float32 window by window; returns whether its epilogue is applied, which one that is whole does. */
function planFloats(call: ResolvedConv2d<StorageBuffer>, recorder: Recorder, choose: ChooseVariant): boolean {
  checkCoordinates(call);
  const { storageAlignment, maxBindingBytes } = recorder.traits;
  const sizes = conv2dSizes(call);
  const input = apartFrom(call.output, call.input, recorder);
  const weights = apartFrom(call.output, call.filter, recorder);
  const elements = Math.floor((maxBindingBytes - bindingSlack(storageAlignment)) / 4);
  const windows = [...conv2dWindows(sizes, { elements, channels: maxChannels(call, recorder.traits) })];
  let epilogue: FusedEpilogue | undefined;
  for (const window of windows) {
    const ofCall = { call, sizes, window, input, weights, output: call.output, stored: 'f32' } as const;
    const variant = choose(shapeOf(ofCall), recorder);
    if (windows.length === 1 && (variant.splits > 1 || readsByFilter(call)))
      epilogue = fusedEpilogue(call, call.output, recorder);
    conv2dTables.launch(bindWindow({ ...ofCall, epilogue }, storageAlignment), variant, recorder);
  }
  return epilogue !== undefined;
}

/**
 * Returns whether an epilogue reads one number for each filter, as a bias: those of a whole tile by each invocation cost more
 * than another launch.
 */
function readsByFilter({ epilogue }: ResolvedConv2d<StorageBuffer>): boolean {
  const inputs = epilogue?.geometry.inputs.filter(({ name }) => name !== 'acc') ?? [];
  return inputs.every(({ strides }) => strides.every((stride, axis) => stride === 0 || axis === 1));
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
