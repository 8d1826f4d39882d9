import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { fillWith } from '../create/full.ts';
import { OUT, checkNumbers, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkU32, checkWords, linearIndex, STREAMS } from './bits.ts';

const kernels = new Kernels();

/** Options of {@link dropout}. */
export interface DropoutOptions extends OutOption {
  /** Integer from 0 to 2^32 - 1: the same one drops the same elements on every backend. */
  readonly seed: number;
  /** Words of the stream to leave out, so that a next tensor goes on where this one ends. Default 0. */
  readonly offset?: number;
}

/**
 * 0 with probability `p`, else `x / (1 - p)`: the mean stays. The same seed and offset drop the same places, counted
 * row-major, in a gradient too.
 *
 * Srivastava et al., Dropout, JMLR 2014. Element i is dropped where word `i + offset` of stream 3 of Philox 4x32-10 is
 * below `p 2^32`: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011.
 *
 * @param p - from 0 to 1
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16, a `p` outside of 0 to 1, a seed or an offset
 *   that is no u32
 * @example
 * ```ts
 * const x = tensor(backend, [1, 2, 3, 4]);
 * await dropout(x, 0.5, { seed: 1 }).toArray(); // [2, 4, 0, 0]
 * ```
 */
export function dropout(x: Tensor, p: number, options: DropoutOptions): Tensor {
  checkTensor('dropout', 'x', x);
  checkNumbers('dropout', { p });
  checkOptions('dropout', options, { ...OUT, seed: 'number', offset: 'number' });
  if (!(p >= 0 && p <= 1)) throw refuse('dropout', `p must be from 0 to 1, got ${String(p)}`);
  if (ELEMENT_TYPES[x.dtype].value !== 'f32') throw refuse('dropout', `takes f32, got ${x.dtype}${shapeText(x.shape)}`);
  checkWords('dropout', x.shape, x.size);
  const seed = checkU32('dropout', 'seed', options.seed);
  const offset = checkU32('dropout', 'offset', options.offset ?? 0);
  return produce('dropout', x.backend, x.shape, x.dtype, options, (result) => {
    if (p === 1) return fillWith('dropout', result, 0);
    const params = { seed, offset, threshold: Math.min(2 ** 32 - 1, Math.round(p * 2 ** 32)), scale: 1 / (1 - p) };
    // Dense ones are a line, whose neighbours share a block of random bits.
    const isLine = x.isDense && result.isDense;
    const shape = isLine ? [x.size] : x.shape;
    const place = (tensor: Tensor) =>
      isLine ? { ptr: tensor.ptr, dtype: tensor.dtype, strides: [1] } : placeOver(tensor, shape);
    const call = { shape, params, inputs: { x: place(x) }, outputs: { y: place(result) } };
    launch('dropout', [x], () => x.backend.run(kernelOf(shape.length), call));
  });
}

function kernelOf(rank: number): Kernel {
  return kernels.of(
    String(rank),
    () =>
      defineKernel(
        'dropout',
        { inputs: { x: 'f32' }, params: { seed: 'u32', offset: 'u32', threshold: 'u32', scale: 'f32' } },
        ({ x, seed, offset, threshold, scale }, k) => {
          const bits = k.random(seed, k.add(linearIndex(k, rank), offset), STREAMS.dropout);
          return { y: k.select(k.lt(bits, threshold), 0, k.mul(x, scale)) };
        },
      ) as Kernel,
  );
}
