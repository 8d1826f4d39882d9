import type { Epilogue, FloatDType, StoredFloatDType } from '@concord/backend-core';
import type { RunOperand } from '@concord/backend-core/kernel';
import { launchOp } from '../compute/launches.ts';
import { type OutOption, produceFitting } from '../compute/produce.ts';
import { type Activation, epilogueKernel, finished } from '../products/activation.ts';
import { checkProduct } from '../products/matmul.ts';
import { runFused } from '../products/run-fused.ts';
import { OUT, checkOptions, checkTensors, type OptionKinds } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, denseStrides, sameShape } from '../tensor/shape.ts';
import { listeners } from '../tensor/listeners.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { type Pair, pairOf, placesAlong, type Sides, transposedAlong, type Window, windowOf } from './window.ts';

/** The further options of a convolution; the same for each number of axes. */
export interface ConvOptions extends OutOption {
  /** `[k]`, added to each image of the result. */
  readonly bias?: Tensor | undefined;
  /** The function applied to the sum. Default: none. */
  readonly activation?: Activation | undefined;
  /** Added at the end: a tensor of the result's shape, or one that broadcasts to it. */
  readonly residual?: Tensor | undefined;
  /** Divides `c` and `k`; `c` of them is a depthwise convolution. Default 1. */
  readonly groups?: number;
}

/** Options of {@link conv2d}. */
export interface Conv2dOptions extends ConvOptions {
  /** Default 1. */
  readonly stride?: Pair;
  /** Zeros around each image. Default 0. */
  readonly padding?: Sides;
  /** Distance of the elements that a filter takes. Default 1. */
  readonly dilation?: Pair;
}

/**
 * `activation(x * w + bias) + residual` in one launch, where `*` is cross-correlation, as conv2d of PyTorch and Conv of
 * ONNX: `x` is `[n, c, h, w]`, `w` `[k, c / groups, r, s]`, the result `[n, k, p, q]` with `p = floor((h + top + bottom -
 * dilation (r - 1) - 1) / stride) + 1`. f32, or f16 with sums in float32; of
 * f32, `w` may also be f16 or bf16. Views of `x` and `w` that are not dense are copied.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]);
 * const w = tensor(backend, [[[[1, 0], [0, -1]]]]);
 * await conv2d(x, w).toArray(); // [-4, -4, -4, -4]
 * const y = conv2d(x, w, { bias: tensor(backend, [5]), activation: 'relu', stride: 2, padding: 'same' });
 * await y.toArray(); // [1, 8, 12, 14]
 * ```
 */
export function conv2d(x: Tensor, w: Tensor, options: Conv2dOptions = {}): Tensor {
  checkConvolution('conv2d', x, w, options);
  return convolve('conv2d', x, w, options);
}

/** The options that every convolution has. */
export const CONVOLUTION_OPTIONS: OptionKinds = {
  ...OUT,
  ...{ stride: 'any', padding: 'any', dilation: 'any' },
  ...{ bias: 'tensor', activation: 'any', residual: 'tensor', groups: 'number' },
};

/** @throws {BackendError} INVALID_ARGUMENT for anything but tensors, and options that a convolution does not have */
export function checkConvolution(op: string, x: Tensor, w: Tensor, options: object): void {
  checkTensors(op, { x, w });
  checkOptions(op, options, CONVOLUTION_OPTIONS);
}

/** {@link conv2d} for a function of that name; transposed where there is an output padding. */
export function convolve(op: string, x: Tensor, w: Tensor, options: Conv2dOptions, outputPadding?: Pair): Tensor {
  const { bias, activation, residual, groups = 1, out } = options;
  if (listeners.length > 0 && activation !== undefined) {
    const own = { ...options, activation: undefined, residual: undefined, out: undefined };
    return tidy(() =>
      finished(op, convolve(op, x, w, own, outputPadding), { activation, residual, joined: 'add', out }),
    );
  }
  const addends = [bias, residual].filter((each) => each !== undefined);
  const operands = [x, w, ...addends];
  // Filters may be of a type of their own where the others are f32.
  const dtype = x.dtype === 'f32' ? checkProduct(op, [x, ...addends], w) : checkProduct(op, operands);
  const transposed = outputPadding !== undefined;
  checkSizes(op, x, w, groups, transposed);
  const [n = 0, , height = 0, width = 0] = x.shape;
  const [first = 0, second = 0, r = 0, s = 0] = w.shape;
  const window = windowOf(op, [height, width], [r, s], options);
  const extra = transposed ? pairOf(op, 'outputPadding', outputPadding, 0) : undefined;
  const along = (axis: 0 | 1, length: number): number =>
    extra === undefined ? placesAlong(axis, length, window) : transposedAlong(axis, length, window, extra[axis]);
  const shape = [n, transposed ? second * groups : first, along(0, height), along(1, width)] as const;
  checkAddends(op, shape, bias, residual);
  const kernel = epilogueKernel(op, bias !== undefined, activation, residual && 'add');
  // What it reads, its residual too, must not change under its hands.
  const fits = (out: Tensor): boolean =>
    out.dtype === dtype && out.isDense && operands.every(({ storage }) => storage !== out.storage);
  return produceFitting(op, x.backend, shape, dtype, options, fits, (result) => {
    if (result.size === 0) return;
    const inputs: Record<string, RunOperand> = {};
    if (bias !== undefined) inputs['bias'] = { ptr: bias.ptr, dtype, strides: [0, bias.strides[0] as number, 0, 0] };
    if (residual !== undefined) {
      const strides = broadcastStrides(residual.shape, residual.strides, shape);
      inputs['residual'] = { ptr: residual.ptr, dtype, strides };
    }
    const epilogue = kernel === undefined ? undefined : { kernel, inputs };
    tidy(() => {
      const [input, filter] = [pack(x), pack(w)];
      launch(op, operands, () => convolveDense({ input, filter, result, window, extra, groups, dtype, epilogue }));
    });
  });
}

interface DenseConvolution {
  readonly input: Tensor;
  readonly filter: Tensor;
  readonly result: Tensor;
  readonly window: Window;
  /** The output padding of a transposed one. */
  readonly extra: readonly [number, number] | undefined;
  readonly groups: number;
  readonly dtype: FloatDType;
  readonly epilogue: Epilogue | undefined;
}

function convolveDense({ input, filter, result, window, extra, groups, dtype, epilogue }: DenseConvolution): void {
  const { backend } = input;
  const { stride, padding, dilation } = window;
  const call = {
    inputShape: input.shape as Shape4,
    filterShape: filter.shape as Shape4,
    outputShape: result.shape as Shape4,
    ...{ stride, padding, dilation, groups, dtype },
    ...(filter.dtype === dtype ? {} : { dtypeFilter: filter.dtype as StoredFloatDType }),
    ...(extra === undefined ? {} : { transposed: true, outputPadding: extra }),
    ...{ input: input.ptr, filter: filter.ptr, output: result.ptr },
  };
  const run = (fused: Epilogue | undefined): void =>
    launchOp(backend, 'conv2dForward', fused === undefined ? call : { ...call, epilogue: fused });
  const place = { ptr: result.ptr, dtype, strides: denseStrides(result.shape) };
  runFused(backend, run, epilogue, { shape: result.shape, place });
}

type Shape4 = readonly [number, number, number, number];

function checkSizes(op: string, x: Tensor, w: Tensor, groups: number, transposed: boolean): void {
  const channels = x.shape[1] as number;
  const [first, second] = w.shape as [number, number];
  const fits =
    x.rank === 4 &&
    w.rank === 4 &&
    Number.isSafeInteger(groups) &&
    groups > 0 &&
    channels === (transposed ? first : second * groups) &&
    first % groups === 0;
  if (fits) return;
  const form = `x is [n, c, ...size], w ${transposed ? '[c, k / groups, ...size]' : '[k, c / groups, ...size]'}`;
  throw refuse(op, `x ${shapeText(x.shape)} does not fit w ${shapeText(w.shape)} with ${groups} groups: ${form}`);
}

function checkAddends(
  op: string,
  shape: readonly number[],
  bias: Tensor | undefined,
  residual: Tensor | undefined,
): void {
  if (shape[2] === 0 || shape[3] === 0)
    throw refuse(op, `w is larger than the padded x, or nothing is left: the result is ${shapeText(shape)}`);
  if (bias !== undefined && !sameShape(bias.shape, [shape[1] as number])) {
    throw refuse(op, `bias must be [${shape[1]}], got ${shapeText(bias.shape)}`);
  }
  const both = residual === undefined ? shape : broadcastShapes(residual.shape, shape);
  if (both === undefined || !sameShape(both, shape)) {
    throw refuse(op, `residual ${shapeText(residual?.shape ?? [])} does not broadcast to ${shapeText(shape)}`);
  }
}
