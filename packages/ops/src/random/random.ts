import type { ComputeBackend } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import type { TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { asU32, scalarsOf } from '../compute/scalars.ts';
import { produce } from '../compute/produce.ts';
import { CREATE, checkBackend, checkOptions } from '../tensor/arguments.ts';
import { checkDType, checkShape, type CreateOptions } from '../tensor/create.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkU32, checkWords, fraction, STREAMS } from './bits.ts';

type Float = Value<'f32'>;

const RANDOM = { ...CREATE, seed: 'operand', offset: 'operand' } as const;

/** Options of {@link randomUniform}. */
export interface RandomUniformOptions extends CreateOptions {
  /** Integer from 0 to 2^32 - 1: the same one gives the same numbers on every backend. Or one integer on the device. */
  readonly seed: TensorLike;
  /** Words of the stream to leave out, so that the next numbers go on where these end; or one integer on the device. Default 0. */
  readonly offset?: TensorLike;
  /** Default 0. */
  readonly low?: number;
  /** Default 1. */
  readonly high?: number;
}

/** A number from those of {@link drawn} and from words of streams, as numbers from 0 to before 1. */
type Draw = (k: KernelBuilder, word: (stream: number) => Float, numbers: Readonly<Record<string, Float>>) => Float;

const uniform: Draw = (k, word, { low, span }) => k.add(low as Float, k.mul(span as Float, word(STREAMS.uniform)));

/**
 * Random numbers from `low` to before `high`, all equally likely: `low + (high - low) u`, u a multiple of 2^-24. Where
 * that is rounded, to float32 or a narrower `dtype`, it may be `high` itself.
 *
 * Element i takes u from the upper 24 bits of word i + offset of stream 0 of Philox 4x32-10: Salmon et al., Parallel random
 * numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a seed or an offset that is not a u32, bounds that are not finite, integers as `dtype`
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
  checkOptions('randomUniform', options, { ...RANDOM, low: 'number', high: 'number' });
  const { low = 0, high = 1 } = options;
  checkFinite('randomUniform', { low, high });
  return drawn('randomUniform', uniform, backend, shape, options, { low, span: high - low });
}

/** Options of {@link randomNormal}. */
export interface RandomNormalOptions extends CreateOptions {
  /** Integer from 0 to 2^32 - 1: the same one gives the same numbers on every backend, but for rounding. Or one integer on the device. */
  readonly seed: TensorLike;
  /** Words of the stream to leave out, so that the next numbers go on where these end; or one integer on the device. Default 0. */
  readonly offset?: TensorLike;
  /** Default 0. */
  readonly mean?: number;
  /** Standard deviation. Default 1. */
  readonly std?: number;
}

const normal: Draw = (k, word, { mean, std }) => {
  // From 2^-24 to 1: the logarithm of 0 is none.
  const u = k.add(word(STREAMS.normalRadius), 2 ** -24);
  const radius = k.sqrt(k.mul(k.log(u), -2));
  const angle = k.mul(word(STREAMS.normalAngle), 2 * Math.PI);
  return k.add(mean as Float, k.mul(std as Float, k.mul(radius, k.cos(angle))));
};

/**
 * Random numbers of a normal distribution: `mean + std sqrt(-2 ln u) cos(2 pi v)`, at most 5.77 `std` from the mean.
 *
 * Box, Muller, A note on the generation of random normal deviates, 1958. Element i takes u, from 2^-24 to 1, and v, from
 * 0 to 1 - 2^-24, from the upper 24 bits of word i + offset of the streams 1 and 2 of Philox 4x32-10: Salmon et al., Parallel random
 * numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a seed or an offset that is not a u32, a `mean` or `std` that is not finite, integers as
 *   `dtype`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = randomNormal(backend, [3], { seed: 1 });
 * await x.toArray(); // [0.932, 1.7172, 1.9924]
 * ```
 */
export function randomNormal(backend: ComputeBackend, shape: readonly number[], options: RandomNormalOptions): Tensor {
  checkOptions('randomNormal', options, { ...RANDOM, mean: 'number', std: 'number' });
  const { mean = 0, std = 1 } = options;
  checkFinite('randomNormal', { mean, std });
  return drawn('randomNormal', normal, backend, shape, options, { mean, std });
}

const kernels = new Kernels();

function drawn(
  op: string,
  draw: Draw,
  backend: ComputeBackend,
  shape: readonly number[],
  { seed, offset = 0, dtype = 'f32', label }: RandomUniformOptions | RandomNormalOptions,
  params: Readonly<Record<string, number>>,
): Tensor {
  checkBackend(op, backend);
  const own = checkShape(op, shape);
  if (ELEMENT_TYPES[checkDType(op, dtype)].value !== 'f32')
    throw refuse(op, `takes f32, f16, bf16, got ${dtype}${shapeText(own)}`);
  const size = sizeOf(own);
  checkWords(op, own, size);
  const scalars = scalarsOf(op, backend, 1, {
    seed: [checkU32(op, 'seed', seed), 'u32'],
    offset: [checkU32(op, 'offset', offset), 'u32'],
  });
  const { inputs, declared } = scalars;
  const kernel = kernels.of(op + JSON.stringify(declared), () => {
    const floats = Object.fromEntries(Object.keys(params).map((name) => [name, 'f32' as const]));
    const spec = { inputs: declared.inputs, params: { ...declared.params, ...floats } };
    return defineKernel(op, spec, (symbols, k) => {
      const of = (name: string): Value<'u32'> => asU32(k, scalars, name, symbols[name]);
      const word = (stream: number): Float =>
        fraction(k, k.random(of('seed'), k.add(k.index(0), of('offset')), stream));
      return { y: draw(k, word, symbols as Readonly<Record<string, Float>>) };
    }) as Kernel;
  });
  return produce(op, backend, own, dtype, { label }, (result) => {
    const outputs = { y: { ptr: result.ptr, dtype } };
    const all = { ...params, ...scalars.params };
    launch(op, [result], () => launchKernel(backend, kernel, { shape: [size], inputs, params: all, outputs }));
  });
}

function checkFinite(op: string, numbers: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!Number.isFinite(value)) throw refuse(op, `${name} must be finite, got ${String(value)}`);
  }
}
