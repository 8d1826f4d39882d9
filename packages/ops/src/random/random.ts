import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { produce } from '../compute/produce.ts';
import { CREATE, checkBackend, checkOptions } from '../tensor/arguments.ts';
import { checkDType, checkShape, type CreateOptions } from '../tensor/create.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkU32, checkWords, fraction, STREAMS } from './bits.ts';

/** Options of {@link randomUniform}. */
export interface RandomUniformOptions extends CreateOptions {
  /** Integer from 0 to 2^32 - 1: the same one gives the same numbers on every backend. */
  readonly seed: number;
  /** Default 0. */
  readonly low?: number;
  /** Default 1. */
  readonly high?: number;
}

const UNIFORM = defineKernel(
  'randomUniform',
  { params: { seed: 'u32', low: 'f32', span: 'f32' } },
  ({ seed, low, span }, k) => ({
    y: k.add(low, k.mul(span, fraction(k, k.random(seed, k.index(0), STREAMS.uniform)))),
  }),
) as Kernel;

/**
 * Random numbers from `low` to before `high`, all equally likely: `low + (high - low) u`, u a multiple of 2^-24. Where
 * that is rounded, to float32 or a narrower `dtype`, it may be `high` itself.
 *
 * Element i takes u from the upper 24 bits of word i of stream 0 of Philox 4x32-10: Salmon et al., Parallel random
 * numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a seed that is no u32, bounds that are not finite, integers as `dtype`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = randomUniform(backend, [2, 2], { seed: 1, low: -1 });
 * await x.toArray(); // [0.7805, 0.7894, 0.1715, 0.4225]
 * ```
 */
export function randomUniform(
  backend: ComputeBackend,
  shape: readonly number[],
  options: RandomUniformOptions,
): Tensor {
  checkOptions('randomUniform', options, { ...CREATE, seed: 'number', low: 'number', high: 'number' });
  const { low = 0, high = 1 } = options;
  checkFinite('randomUniform', { low, high });
  return drawn('randomUniform', UNIFORM, backend, shape, options, { low, span: high - low });
}

/** Options of {@link randomNormal}. */
export interface RandomNormalOptions extends CreateOptions {
  /** Integer from 0 to 2^32 - 1: the same one gives the same numbers on every backend, but for rounding. */
  readonly seed: number;
  /** Default 0. */
  readonly mean?: number;
  /** Standard deviation. Default 1. */
  readonly std?: number;
}

const NORMAL = defineKernel(
  'randomNormal',
  { params: { seed: 'u32', mean: 'f32', std: 'f32' } },
  ({ seed, mean, std }, k) => {
    const word = (stream: number) => fraction(k, k.random(seed, k.index(0), stream));
    // From 2^-24 to 1: the logarithm of 0 is none.
    const u = k.add(word(STREAMS.normalRadius), 2 ** -24);
    const radius = k.sqrt(k.mul(k.log(u), -2));
    const angle = k.mul(word(STREAMS.normalAngle), 2 * Math.PI);
    return { y: k.add(mean, k.mul(std, k.mul(radius, k.cos(angle)))) };
  },
) as Kernel;

/**
 * Random numbers of a normal distribution: `mean + std sqrt(-2 ln u) cos(2 pi v)`, at most 5.77 `std` from the mean.
 *
 * Box, Muller, A note on the generation of random normal deviates, 1958. Element i takes u, from 2^-24 to 1, and v, from
 * 0 to 1 - 2^-24, from the upper 24 bits of word i of the streams 1 and 2 of Philox 4x32-10: Salmon et al., Parallel random
 * numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a seed that is no u32, a `mean` or `std` that is not finite, integers as
 *   `dtype`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = randomNormal(backend, [3], { seed: 1 });
 * await x.toArray(); // [0.932, 1.7172, 1.9924]
 * ```
 */
export function randomNormal(backend: ComputeBackend, shape: readonly number[], options: RandomNormalOptions): Tensor {
  checkOptions('randomNormal', options, { ...CREATE, seed: 'number', mean: 'number', std: 'number' });
  const { mean = 0, std = 1 } = options;
  checkFinite('randomNormal', { mean, std });
  return drawn('randomNormal', NORMAL, backend, shape, options, { mean, std });
}

function drawn(
  op: string,
  kernel: Kernel,
  backend: ComputeBackend,
  shape: readonly number[],
  { seed, dtype = 'f32', label }: RandomUniformOptions | RandomNormalOptions,
  params: Readonly<Record<string, number>>,
): Tensor {
  checkBackend(op, backend);
  const own = checkShape(op, shape);
  if (ELEMENT_TYPES[checkDType(op, dtype)].value !== 'f32')
    throw refuse(op, `takes f32, f16, bf16, got ${dtype}${shapeText(own)}`);
  const size = sizeOf(own);
  checkWords(op, own, size);
  const all = { ...params, seed: checkU32(op, 'seed', seed) };
  return produce(op, backend, own, dtype, { label }, (result) => {
    const outputs = { y: { ptr: result.ptr, dtype } };
    launch(op, [result], () => backend.run(kernel, { shape: [size], params: all, outputs }));
  });
}

function checkFinite(op: string, numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isFinite(value)) throw refuse(op, `${name} must be finite, got ${String(value)}`);
  }
}
