import { defineKernel, type Kernel, type KernelBuilder, type Value } from '@concord/backend-core/kernel';
import { mul, norm, run, stack, type Tensor, tidy } from '@concord/ops';
import { checkNumbers, checkOptions } from '@concord/ops/listen';
import { invalidArgument } from './errors.ts';
import { tensorsOf } from './tree.ts';

type Float = Value<'f32'>;

/** A rate that rises to a peak and falls. */
export interface WarmupOptions {
  readonly peak: number;
  /** Steps until the peak. Default 0. */
  readonly warmup?: number;
  /** Steps until the floor. */
  readonly total: number;
  /** Default 0. */
  readonly floor?: number;
}

const warmupKernel = (name: string, fall: (k: KernelBuilder, part: Float) => Float): Kernel =>
  defineKernel(
    name,
    { inputs: { step: 'f32' }, params: { peak: 'f32', warmup: 'f32', total: 'f32', floor: 'f32' } },
    ({ step, peak, warmup, total, floor }, k) => {
      const part = k.clamp(k.div(k.sub(step, warmup), k.max(k.sub(total, warmup), 1)), 0, 1);
      const falling = k.add(floor, k.mul(k.sub(peak, floor), fall(k, part)));
      return { rate: k.select(k.lt(step, warmup), k.mul(peak, k.div(step, k.max(warmup, 1))), falling) };
    },
  ) as Kernel;

const COSINE = warmupKernel('warmupCosine', (k, part) => k.mul(k.add(k.cos(k.mul(part, Math.PI)), 1), 0.5));
const LINEAR = warmupKernel('warmupLinear', (k, part) => k.sub(1, part));

/**
 * A rate for an optimiser that rises evenly to `peak` and falls to `floor` as half a cosine. It is computed on the device, from the number
 * of the step.
 *
 * Loshchilov, Hutter, SGDR, 2017.
 *
 * @example
 * ```ts
 * const rate = warmupCosine({ peak: 0.1, warmup: 10, total: 110 });
 * await rate(tensor(backend, [5])).toArray(); // [0.05]
 * await rate(tensor(backend, [60])).toArray(); // [0.05]
 * ```
 */
export function warmupCosine(options: WarmupOptions): (step: Tensor) => Tensor {
  return scheduled(COSINE, options);
}

/**
 * {@link warmupCosine} that falls evenly.
 *
 * @example
 * ```ts
 * const rate = warmupLinear({ peak: 0.1, warmup: 10, total: 110 });
 * await rate(tensor(backend, [60])).toArray(); // [0.05]
 * ```
 */
export function warmupLinear(options: WarmupOptions): (step: Tensor) => Tensor {
  return scheduled(LINEAR, options);
}

function scheduled(kernel: Kernel, options: WarmupOptions): (step: Tensor) => Tensor {
  checkOptions(kernel.name, options, { peak: 'any', warmup: 'number', total: 'any', floor: 'number' });
  const { peak, warmup = 0, total, floor = 0 } = options;
  checkNumbers(kernel.name, { peak, total });
  return (step) => run(kernel, { step }, { params: { peak, warmup, total, floor } })['rate'] as Tensor;
}

/**
 * Scales gradients, in place, so that all of them together have at most that norm. Nothing is read back.
 *
 * @param gradients - a tensor, or lists and plain objects of them
 * @returns the norm that they had, one float
 * @throws {BackendError} INVALID_ARGUMENT if there is no tensor
 * @example
 * ```ts
 * const gradients = [tensor(backend, [3]), tensor(backend, [4])];
 * await clipByNorm(gradients, 1).toArray(); // [5]
 * await gradients[1].toArray(); // [0.8]
 * ```
 */
export function clipByNorm(gradients: unknown, most: number): Tensor {
  const tensors = tensorsOf(gradients);
  if (tensors.length === 0) throw invalidArgument('clipByNorm', 'takes gradients, of which there are none');
  checkNumbers('clipByNorm', { most });
  return tidy(() => {
    const total = norm(stack(tensors.map((each) => norm(each))));
    const factor = run(CLIP, { total }, { params: { most } })['factor'] as Tensor;
    for (const each of tensors) mul(each, factor, { out: each });
    return total;
  });
}

const CLIP = defineKernel('clip', { inputs: { total: 'f32' }, params: { most: 'f32' } }, ({ total, most }, k) => ({
  factor: k.min(k.div(most, k.add(total, 1e-6)), 1),
})) as Kernel;
