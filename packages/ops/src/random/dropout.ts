import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver, type TensorLike } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { asU32, type Scalars, scalarsOf } from '../compute/scalars.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { fillWith } from '../create/full.ts';
import { OUT, checkOperand, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkU32, checkWords, linearIndex, STREAMS } from './bits.ts';

const kernels = new Kernels();

/** Options of {@link dropout}. */
export interface DropoutOptions extends OutOption {
  /** Integer from 0 to 2^32 - 1: the same one drops the same elements on every backend. Or one integer on the device. */
  readonly seed: TensorLike;
  /** Words of the stream to leave out, so that a next tensor goes on where this one ends; or one integer on the device. Default 0. */
  readonly offset?: TensorLike;
}

/**
 * Drops elements with probability `p`, and divides the others by `1 - p`: the mean stays. The same seed and offset drop
 * the same places, counted row-major, in a gradient too.
 *
 * Srivastava et al., Dropout, JMLR 2014. Element i is dropped where word `i + offset` of stream 3 of Philox 4x32-10 is
 * below `p 2^32`: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @param p - from 0 to 1; or one float on the device, which counts as the nearer of those where it is outside
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16, a `p` outside of 0 to 1, a seed or an offset
 *   that is not a u32
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2, 3, 4]);
 * await dropout(x, 0.5, { seed: 1 }).toArray(); // [2, 4, 0, 0]
 * ```
 */
export function dropout(x: Tensor, p: TensorLike, options: DropoutOptions): Tensor {
  checkTensor('dropout', 'x', x);
  checkOperand('dropout', 'p', p);
  checkOptions('dropout', options, { ...OUT, seed: 'operand', offset: 'operand' });
  if (typeof p === 'number' && !(p >= 0 && p <= 1)) throw refuse('dropout', `p must be from 0 to 1, got ${String(p)}`);
  if (ELEMENT_TYPES[x.dtype].value !== 'f32') throw refuse('dropout', `takes f32, got ${x.dtype}${shapeText(x.shape)}`);
  checkWords('dropout', x.shape, x.size);
  const seed = checkU32('dropout', 'seed', options.seed);
  const offset = checkU32('dropout', 'offset', options.offset ?? 0);
  return produce('dropout', x.backend, x.shape, x.dtype, options, (result) => {
    if (p === 1) return fillWith('dropout', result, 0);
    // Dense ones are a line, whose neighbours share a block of random bits.
    const isLine = x.isDense && result.isDense;
    const shape = isLine ? [x.size] : x.shape;
    const place = (tensor: Tensor) =>
      isLine ? { ptr: tensor.ptr, dtype: tensor.dtype, strides: [1] } : placeOver(tensor, shape);
    const scalars = scalarsOf('dropout', x.backend, shape.length, {
      ...{ seed: [seed, 'u32'], offset: [offset, 'u32'] },
      ...(typeof p === 'number'
        ? { threshold: [Math.min(2 ** 32 - 1, Math.round(p * 2 ** 32)), 'u32'], scale: [1 / (1 - p), 'f32'] }
        : { p: [p, 'f32'] }),
    });
    const inputs = { x: place(x), ...scalars.inputs };
    const call = { shape, params: scalars.params, inputs, outputs: { y: place(result) } };
    launch('dropout', [x], () => launchKernel(x.backend, kernelOf(shape.length, scalars), call));
  });
}

function kernelOf(rank: number, scalars: Scalars): Kernel {
  const { inputs, params } = scalars.declared;
  return kernels.of(JSON.stringify([rank, inputs, params]), () => {
    return defineKernel('dropout', { inputs: { x: 'f32', ...inputs }, params }, (symbols, k) => {
      const { x, p, threshold, scale } = symbols as unknown as Readonly<Record<string, Value<'f32'>>>;
      const of = (name: string): Value<'u32'> => asU32(k, scalars, name, symbols[name]);
      const bits = k.random(of('seed'), k.add(linearIndex(k, rank), of('offset')), STREAMS.dropout);
      if (p === undefined) {
        const isDropped = k.lt(bits, threshold as unknown as Value<'u32'>);
        return { y: k.select(isDropped, 0, k.mul(x as Value<'f32'>, scale as Value<'f32'>)) };
      }
      const isDropped = k.or(k.lt(bits, k.toU32(k.mul(p, 2 ** 32))), k.ge(p, 1));
      return { y: k.select(isDropped, 0, k.div(x as Value<'f32'>, k.sub(1, k.max(p, 0)))) };
    }) as Kernel;
  });
}
