import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { centred } from '../compute/centred.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { checkRows } from '../compute/rows.ts';
import { type Activation, activationKey, checkActivation } from '../products/activation.ts';
import { OUT, checkNumbers } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { affine } from './affine.ts';
import { channelPlaces, checkPerChannel } from './per-channel.ts';

/** Options of {@link groupNorm} and {@link instanceNorm}. */
export interface GroupNormOptions extends OutOption {
  /** Factor of each channel, `[c]`. Default 1. */
  readonly weight?: Tensor | undefined;
  /** Added to each channel at the end, `[c]`. Default 0. */
  readonly bias?: Tensor | undefined;
  /** Added to the variance. Default 1e-5. */
  readonly eps?: number;
  /** The function applied at the end. Default: none. */
  readonly activation?: Activation | undefined;
}

/**
 * `activation((x - mean) / sqrt(variance + eps) weight + bias)` of `[n, c, ...]`, the mean and the variance (without correction) over
 * each of the groups that consecutive channels of one n are parted into. One launch.
 *
 * Wu, He, Group normalization, 2018; ONNX GroupNormalization-21.
 *
 * @param groups - a divisor of c
 * @throws {BackendError} INVALID_ARGUMENT for integers, fewer than two or more than seven axes, groups that do not divide
 *   the channels, a weight or bias that is not `[c]`, an unknown activation
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 3, 0, 8]]);
 * await groupNorm(x, 2, { eps: 0 }).toArray(); // [-1, 1, -1, 1]
 * ```
 */
export function groupNorm(x: Tensor, groups: number, options: GroupNormOptions = {}): Tensor {
  return normalizeGroups('groupNorm', x, groups, options);
}

/**
 * `activation((x - mean) / sqrt(variance + eps) weight + bias)` of `[n, c, ...]`, the mean and the variance (without correction) over
 * the axes after the channels: {@link groupNorm} with a group for each channel. One launch.
 *
 * Ulyanov, Vedaldi, Lempitsky, Instance normalization, 2016; ONNX InstanceNormalization.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, fewer than two or more than seven axes, a weight or bias that is
 *   not `[c]`, an unknown activation
 * @example
 * ```ts
 * const x = tensor(backend, [[[1, 3], [0, 8]]]);
 * await instanceNorm(x, { eps: 0, bias: tensor(backend, [0, 10]) }).toArray(); // [-1, 1, 9, 11]
 * ```
 */
export function instanceNorm(x: Tensor, options: GroupNormOptions = {}): Tensor {
  return normalizeGroups('instanceNorm', x, (x as Partial<Tensor> | undefined)?.shape?.[1] ?? 0, options);
}

const kernels = new Kernels();

function normalizeGroups(op: string, x: Tensor, groups: number, options: GroupNormOptions): Tensor {
  checkRows(op, x, options, { ...OUT, weight: 'tensor', bias: 'tensor', eps: 'number', activation: 'any' });
  checkNumbers(op, { groups });
  const { weight, bias, eps = 1e-5, activation } = options;
  checkActivation(op, activation);
  if (x.rank < 2) throw refuse(op, `takes [n, c, ...], got ${shapeText(x.shape)}`);
  const given = checkPerChannel(op, x, 1, { weight, bias });
  const [n, channels, ...spatial] = x.shape as [number, number, ...number[]];
  const inGroup = groups === channels ? 1 : channels / groups;
  if (!Number.isInteger(groups) || groups < 0 || !Number.isInteger(inGroup)) {
    throw refuse(op, `${String(groups)} groups do not part the ${channels} channels of ${shapeText(x.shape)}`);
  }
  if (x.rank > 7) throw refuse(op, `takes at most 7 axes, got ${shapeText(x.shape)}`);
  const shape = [n, groups, inGroup, ...spatial];
  return produce(op, x.backend, x.shape, x.dtype, options, (result) => {
    const parted = ({ ptr, dtype, strides: [ofN, ofChannel, ...others] }: Tensor) => {
      return { ptr, dtype, strides: [ofN as number, (ofChannel as number) * inGroup, ofChannel as number, ...others] };
    };
    const ofChannels = channelPlaces(given, shape.length, 1, (stride) => [stride * inGroup, stride]);
    const inputs = { x: parted(x), ...ofChannels };
    const call = { shape, folded: shape.length - 2, inputs, params: { eps }, outputs: { y: parted(result) } };
    launch(op, [x, ...Object.values(given)], () =>
      launchKernel(x.backend, kernelOf(Object.keys(given), activation), call),
    );
  });
}

function kernelOf(names: readonly string[], activation: Activation | undefined): Kernel {
  return kernels.of([activationKey(activation), ...names].join(), () => {
    const inputs = Object.fromEntries(['x', ...names].map((name) => [name, 'f32' as const]));
    return defineKernel('groupNorm', { inputs, params: { eps: 'f32' } }, (symbols, k) => {
      const { deviation, variance } = centred(k, symbols['x'] as Value<'f32'>);
      const normal = k.mul(deviation, k.rsqrt(k.add(variance, symbols.eps)));
      return { y: affine(k, normal, symbols, activation) };
    }) as Kernel;
  });
}
