import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { Kernels } from '../compute/kernels.ts';
import { centred } from '../compute/centred.ts';
import type { View } from '../compute/copy.ts';
import { type Plan, planRun, Plans, producePlanned } from '../compute/plans.ts';
import { checkOut, checkSameBackend, type OutOption } from '../compute/produce.ts';
import {
  type Axes,
  checkAxes,
  checkAxis,
  checkRows,
  copyAxes,
  domainOf,
  elementsViewOf,
  keyOf,
  rowDomain,
  ROWS,
} from '../compute/rows.ts';
import { type Activation, activationKey, checkActivation } from '../products/activation.ts';
import type { OptionKinds } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout } from '../tensor/layout.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { affine } from './affine.ts';

type Float = Value<'f32'>;

/** Options of {@link rmsNorm}. */
export interface RmsNormOptions extends OutOption {
  /** Factor of each element; broadcasts to the normalized axes, in the order of their list. */
  readonly weight?: Tensor | undefined;
  /** The first axis that is normalized, and all after it are too; or a list of just those axes. Default -1. */
  readonly axis?: Axes;
  /** Added to the variance. Default 1e-5. */
  readonly eps?: number;
  /** The function applied at the end. Default: none. */
  readonly activation?: Activation | undefined;
}

/** Options of {@link layerNorm}. */
export interface LayerNormOptions extends RmsNormOptions {
  /** Added to each element at the end; broadcasts to the normalized axes. */
  readonly bias?: Tensor | undefined;
}

const RMS: OptionKinds = { ...ROWS, weight: 'tensor', eps: 'number', activation: 'any' };
const LAYER: OptionKinds = { ...RMS, bias: 'tensor' };

/**
 * `activation((x - mean) / sqrt(variance + eps) weight + bias)` over the axes from `axis` on, or those of a list, the variance without
 * correction. One launch. f32, f16, bf16.
 *
 * Ba, Kiros, Hinton, Layer normalization, 2016; ONNX LayerNormalization.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a weight or bias that does not fit, an
 *   unknown activation
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
 * `activation(x / sqrt(mean(x^2) + eps) weight)` over the axes from `axis` on, or those of a list. One launch. f32, f16, bf16.
 *
 * Zhang, Sennrich, Root mean square layer normalization, 2019; ONNX RMSNormalization.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a weight that does not fit, an unknown
 *   activation
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
  const { weight, bias, axis = -1, eps = 1e-5, activation, out } = options;
  const axes = copyAxes(axis);
  const given = [x];
  if (weight !== undefined) given.push(weight);
  if (bias !== undefined) given.push(bias);
  checkSameBackend(op, x.backend, given);
  const key = [op, weight?.layout.id ?? 0, bias?.layout.id ?? 0, activation, ...keyOf(x, axes, out)];
  const plan = plans.of(x.backend, key, () => {
    const { shape } = x;
    checkActivation(op, activation);
    if (typeof axes !== 'number') checkAxes(op, shape, axes);
    const list =
      typeof axes === 'number'
        ? [...shape.keys()].slice(checkAxis(op, shape, axes))
        : axes.map((axis) => checkAxis(op, shape, axis));
    checkOperand(op, x, shape, shape);
    const normalized = list.map((axis) => shape[axis] as number);
    const domain = rowDomain(op, shape, list);
    for (const each of given.slice(1)) checkOperand(op, each, normalized, shape);
    checkOut(op, out, shape, x.dtype);
    const result = out?.layout ?? denseLayout(shape, x.dtype);
    const kernel = kernelOf(op, weight !== undefined, bias !== undefined, activation, normal);
    const inRows = ({ dtype, shape: own, strides }: Tensor): View => {
      const each = broadcastStrides(own, strides, normalized);
      return { dtype, strides: domain.order.map((axis) => each[list.indexOf(axis)] ?? 0) };
    };
    const inputs: Record<string, View> = { x: elementsViewOf(x, domain) };
    if (weight !== undefined) inputs['weight'] = inRows(weight);
    if (bias !== undefined) inputs['bias'] = inRows(bias);
    const outputs = { y: elementsViewOf(result, domain) };
    return planRun(op, x.backend, given, result, { kernel, ...domainOf(domain), inputs, outputs });
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
  activation: Activation | undefined,
  normal: (k: KernelBuilder, x: Float, eps: Float) => Float,
): Kernel {
  return kernels.of(`${op} ${hasWeight} ${hasBias} ${activationKey(activation)}`, () => {
    const inputs: Record<string, 'f32'> = { x: 'f32' };
    if (hasWeight) inputs['weight'] = 'f32';
    if (hasBias) inputs['bias'] = 'f32';
    return defineKernel(op, { inputs, params: { eps: 'f32' } }, ({ x, eps, ...others }, k) => {
      return { y: affine(k, normal(k, x as Float, eps), others, activation) };
    }) as Kernel;
  });
}
