import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { checkAxis, checkRows } from '../compute/rows.ts';
import { type Activation, activationKey, checkActivation } from '../products/activation.ts';
import { OUT } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { affine } from './affine.ts';
import { channelPlaces, checkPerChannel } from './per-channel.ts';

/** Options of {@link batchNorm}: statistics and factors of the c channels, `[c]` each. */
export interface BatchNormOptions extends OutOption {
  readonly mean: Tensor;
  readonly variance: Tensor;
  /** Factor of each channel. Default 1. */
  readonly weight?: Tensor | undefined;
  /** Added to each channel at the end. Default 0. */
  readonly bias?: Tensor | undefined;
  /** Added to the variance. Default 1e-5. */
  readonly eps?: number;
  /** The function applied at the end. Default: none. */
  readonly activation?: Activation | undefined;
  /** The axis of the channels. Default 1. */
  readonly axis?: number;
}

const kernels = new Kernels();

/**
 * `activation((x - mean) / sqrt(variance + eps) weight + bias)` of `[n, c, ...]`, or of any shape with an axis of channels, with
 * numbers of each channel that training found. One launch. f32, f16, bf16.
 *
 * Ioffe, Szegedy, Batch normalization, 2015; ONNX BatchNormalization in inference.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, what is not `[c]`, no mean or variance, an unknown
 *   activation
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 5], [3, 7]]);
 * const known = { mean: tensor(backend, [2, 5]), variance: tensor(backend, [1, 4]) };
 * await batchNorm(x, { ...known, eps: 0 }).toArray(); // [-1, 0, 1, 1]
 * ```
 */
export function batchNorm(x: Tensor, options: BatchNormOptions): Tensor {
  checkRows('batchNorm', x, options, {
    ...OUT,
    mean: 'tensor',
    variance: 'tensor',
    weight: 'tensor',
    bias: 'tensor',
    eps: 'number',
    activation: 'any',
    axis: 'any',
  });
  const { mean, variance, weight, bias, eps = 1e-5, activation } = options;
  checkActivation('batchNorm', activation);
  const axis = checkAxis('batchNorm', x.shape, options.axis ?? 1);
  if (mean === undefined || variance === undefined) {
    throw refuse('batchNorm', `takes the mean and the variance of the channels of ${shapeText(x.shape)}`);
  }
  const given = checkPerChannel('batchNorm', x, axis, { mean, variance, weight, bias });
  const { shape, backend } = x;
  return produce('batchNorm', backend, shape, x.dtype, options, (result) => {
    const inputs = { x: placeOver(x, shape), ...channelPlaces(given, shape.length, axis, (stride) => [stride]) };
    const call = { shape, inputs, params: { eps }, outputs: { y: placeOver(result, shape) } };
    launch('batchNorm', [x, ...Object.values(given)], () =>
      launchKernel(backend, kernelOf(Object.keys(given), activation), call),
    );
  });
}

function kernelOf(names: readonly string[], activation: Activation | undefined): Kernel {
  return kernels.of([activationKey(activation), ...names].join(), () => {
    const inputs = Object.fromEntries(['x', ...names].map((name) => [name, 'f32' as const]));
    return defineKernel('batchNorm', { inputs, params: { eps: 'f32' } }, (symbols, k) => {
      const of = (name: string): Value<'f32'> => symbols[name] as Value<'f32'>;
      const normal = k.mul(k.sub(of('x'), of('mean')), k.rsqrt(k.add(of('variance'), symbols.eps)));
      return { y: affine(k, normal, symbols, activation) };
    }) as Kernel;
  });
}
