import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { Kernels } from '../compute/kernels.ts';
import { centred } from '../compute/centred.ts';
import type { View } from '../compute/copy.ts';
import { viewOver } from '../compute/elementwise.ts';
import { type Plan, planRun, Plans, producePlanned } from '../compute/plans.ts';
import { checkOut, checkSameBackend, type OutOption } from '../compute/produce.ts';
import { checkAxis, checkRows, ROWS } from '../compute/rows.ts';
import type { OptionKinds } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout } from '../tensor/layout.ts';
import { broadcastShapes, sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

type Float = Value<'f32'>;

/** Options of {@link rmsNorm}. */
export interface RmsNormOptions extends OutOption {
  /** Factor of each element; broadcasts to the normalized axes. */
  readonly weight?: Tensor | undefined;
  /** The first axis that is normalized; all after it are too. Default -1. */
  readonly axis?: number;
  /** Added to the variance. Default 1e-5. */
  readonly eps?: number;
}

/** Options of {@link layerNorm}. */
export interface LayerNormOptions extends RmsNormOptions {
  /** Added to each element at the end; broadcasts to the normalized axes. */
  readonly bias?: Tensor | undefined;
}

const RMS: OptionKinds = { ...ROWS, weight: 'tensor', eps: 'number' };
const LAYER: OptionKinds = { ...RMS, bias: 'tensor' };

/**
 * `(x - mean) / sqrt(variance + eps) weight + bias` over the axes from `axis` on, the variance without correction. One
 * launch. f32, f16, bf16.
 *
 * Ba, Kiros, Hinton, Layer normalization, 2016; ONNX LayerNormalization.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a weight or bias that does not fit
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2, 3], [0, 0, 6]]);
 * await layerNorm(x).toArray(); // [-1.2247, 0, 1.2247, -0.7071, -0.7071, 1.4142]
 * ```
 */
export function layerNorm(x: Tensor, options: LayerNormOptions = {}): Tensor {
  checkRows('layerNorm', x, options, LAYER);
  return normalize('layerNorm', x, options, (k, value, eps) => {
    const { deviation, variance } = centred(k, value);
    return k.mul(deviation, k.rsqrt(k.add(variance, eps)));
  });
}

/**
 * `x / sqrt(mean(x^2) + eps) weight` over the axes from `axis` on. One launch. f32, f16, bf16.
 *
 * Zhang, Sennrich, Root mean square layer normalization, 2019; ONNX RMSNormalization.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a weight that does not fit
 * @example
 * ```ts
 * await rmsNorm(tensor(backend, [3, 4])).toArray(); // [0.8485, 1.1314]
 * ```
 */
export function rmsNorm(x: Tensor, options: RmsNormOptions = {}): Tensor {
  checkRows('rmsNorm', x, options, RMS);
  return normalize('rmsNorm', x, options, (k, value, eps) => {
    return k.mul(value, k.rsqrt(k.add(k.fold('mean', k.mul(value, value)), eps)));
  });
}

const kernels = new Kernels();
const plans = new Plans<Plan>();

function normalize(
  op: string,
  x: Tensor,
  options: LayerNormOptions,
  normal: (k: KernelBuilder, x: Float, eps: Float) => Float,
): Tensor {
  const { weight, bias, axis = -1, eps = 1e-5, out } = options;
  const given = [x];
  if (weight !== undefined) given.push(weight);
  if (bias !== undefined) given.push(bias);
  checkSameBackend(op, x.backend, given);
  const key = [op, x.layout.id, weight?.layout.id ?? 0, bias?.layout.id ?? 0, out?.layout.id ?? 0, axis];
  const plan = plans.of(x.backend, key, () => {
    const { shape } = x;
    const first = checkAxis(op, shape, axis);
    checkOperand(op, x, shape, shape);
    const normalized = shape.slice(first);
    for (const each of given.slice(1)) checkOperand(op, each, normalized, shape);
    checkOut(op, out, shape, x.dtype);
    const result = out?.layout ?? denseLayout(shape, x.dtype);
    const kernel = kernelOf(op, weight !== undefined, bias !== undefined, normal);
    const inputs: Record<string, View> = { x: viewOver(x, shape) };
    if (weight !== undefined) inputs['weight'] = viewOver(weight, shape);
    if (bias !== undefined) inputs['bias'] = viewOver(bias, shape);
    const outputs = { y: viewOver(result, shape) };
    return planRun(op, x.backend, given, result, { kernel, shape, folded: x.rank - first, inputs, outputs });
  });
  return producePlanned(op, x.backend, plan, given, out, [eps]);
}

function checkOperand(op: string, each: Tensor, over: readonly number[], shape: readonly number[]): void {
  if (ELEMENT_TYPES[each.dtype].value !== 'f32') {
    throw refuse(op, `takes f32, f16 and bf16, got ${each.dtype}${shapeText(each.shape)}`, { hint: "cast(x, 'f32')" });
  }
  const both = broadcastShapes(each.shape, over);
  if (both !== undefined && sameShape(both, over)) return;
  throw refuse(op, `${shapeText(each.shape)} does not broadcast to ${shapeText(over)} of ${shapeText(shape)}`);
}

function kernelOf(
  op: string,
  hasWeight: boolean,
  hasBias: boolean,
  normal: (k: KernelBuilder, x: Float, eps: Float) => Float,
): Kernel {
  const key = `${op} ${hasWeight} ${hasBias}`;
  return kernels.of(key, () => {
    const inputs: Record<string, 'f32'> = { x: 'f32' };
    if (hasWeight) inputs['weight'] = 'f32';
    if (hasBias) inputs['bias'] = 'f32';
    return defineKernel(op, { inputs, params: { eps: 'f32' } }, ({ x, weight, bias, eps }, k) => {
      const normalized = normal(k, x as Float, eps);
      const scaled = weight === undefined ? normalized : k.mul(normalized, weight);
      return { y: bias === undefined ? scaled : k.add(scaled, bias) };
    }) as Kernel;
  });
}
