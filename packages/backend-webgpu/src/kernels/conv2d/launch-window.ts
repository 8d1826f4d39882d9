import type { ResolvedConv2d } from '@concord/backend-core/implement';
import { bindable, slice } from '../operands.ts';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { ADD_SPLITS_GROUP, addSplits } from './add-splits.wgsl.ts';
import { type Conv2dShapeTraits, tilesOf, type Variant } from './choose-variant.ts';
import { direct, DIRECT_LANES } from './direct.wgsl.ts';
import { type Fit, implicitGemm, iterationTaps } from './implicit-gemm.wgsl.ts';
import { MAX_COLUMNS, MAX_ROWS } from './input-strip.ts';
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

/** The pieces of the operands that a window touches, and where in them it begins. */
interface BoundWindow {
  readonly input: Span;
  readonly weights: Span;
  readonly output: Span;
  /** Those of `window.wgsl.ts`. */
  readonly uniforms: Readonly<Record<string, number>>;
}

/** Launches what computes a window. */
export function launchWindow(
  ofCall: WindowOfCall,
  choose: (shape: Conv2dShapeTraits, recorder: Recorder) => Variant,
  recorder: Recorder,
): void {
  const shape = shapeOf(ofCall);
  const variant = choose(shape, recorder);
  const bound = bindWindow(ofCall, recorder.traits.storageAlignment);
  if (variant.kind === 'direct') launchDirect(variant, shape, bound, recorder);
  else launchImplicitGemm(variant, shape, bound, recorder);
}

function launchDirect(
  { block, id }: Extract<Variant, { kind: 'direct' }>,
  { groups, filters, images, outputRows, outputWidth, filterWidth, strideW, dilationW }: Conv2dShapeTraits,
  { input, weights, output, uniforms }: BoundWindow,
  recorder: Recorder,
): void {
  const slides = block.columns > 1 && filterWidth > 1 && strideW === dilationW;
  const strips = images * outputRows * Math.ceil(outputWidth / block.columns);
  recorder.launch({
    kernel: direct({ ...block, slides }),
    storage: { input, weights, output },
    uniforms,
    groups: groups * Math.ceil(filters / block.filters) * Math.ceil(strips / DIRECT_LANES),
    variant: id,
  });
}

function launchImplicitGemm(
  { tile, splits: wanted, id }: Extract<Variant, { kind: 'implicit-gemm' }>,
  shape: Conv2dShapeTraits,
  { input, weights, output, uniforms }: BoundWindow,
  recorder: Recorder,
): void {
  const taps = shape.channels * shape.filterHeight * shape.filterWidth;
  const perIteration = iterationTaps(tile);
  const depth = Math.ceil(taps / wanted / perIteration) * perIteration;
  const splits = Math.ceil(taps / depth);
  const isClamped = !recorder.traits.checksBounds;
  const kernel = implicitGemm({ tile, ...fitOf(shape, taps % perIteration === 0), isClamped });
  const ofTile = { ...uniforms, image_places: shape.outputRows * shape.outputWidth, depth };
  const groups = splits * tilesOf(tile, shape);
  if (splits === 1) {
    const storage = { input, weights, output };
    recorder.launch({ kernel, storage, uniforms: { ...ofTile, output_split: 0 }, groups, variant: id });
    return;
  }
  // The output of a window lies in one piece.
  const entries = shape.images * shape.groups * shape.filters * shape.outputRows * shape.outputWidth;
  const sums = recorder.scratch(splits * entries * FLOAT_BYTES);
  recorder.launch({
    kernel,
    storage: { input, weights, output: sums },
    uniforms: { ...ofTile, output_split: entries, output_at: 0, accumulate: 0 },
    groups,
    variant: id,
  });
  recorder.launch({
    kernel: addSplits,
    storage: { sums, output },
    uniforms: { ...uniforms, entries, splits },
    groups: Math.ceil(entries / ADD_SPLITS_GROUP),
  });
}

/** The checks that the kernel need not make. */
function fitOf(shape: Conv2dShapeTraits, isWhole: boolean): Fit {
  if (isWhole && !shape.isPadded) return { padding: 'none', isWhole };
  const isSmall = shape.filterHeight <= MAX_ROWS && shape.filterWidth <= MAX_COLUMNS;
  return isSmall ? { padding: 'sets', isWhole } : { padding: 'coordinates', isWhole: false };
}

function shapeOf({ call, sizes, window }: WindowOfCall): Conv2dShapeTraits {
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
function bindWindow({ call, sizes, window, ...operands }: WindowOfCall, storageAlignment: number): BoundWindow {
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
  return { input: input.span, weights: weights.span, output: output.span, uniforms };
}
