import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver, truth } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { OUT, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { checkDType, checkShape } from '../tensor/create.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

const kernels = new Kernels();

/** Options of {@link oneHot}. */
export interface OneHotOptions extends OutOption {
  /** The dtype of the result. Default `'f32'`. */
  readonly dtype?: DType;
}

/**
 * 1 at the place that each index names and 0 elsewhere: `[..., depth]` of indices `[...]`. An index outside of 0 to
 * `depth - 1` gives zeros only.
 *
 * @throws {BackendError} INVALID_ARGUMENT for indices that are not integers, a depth that is not a size
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const indices = tensor(backend, [2, 0], [2], { dtype: 'i32' });
 * await oneHot(indices, 3).toArray(); // [0, 0, 1, 1, 0, 0]
 * ```
 */
export function oneHot(indices: Tensor, depth: number, options: OneHotOptions = {}): Tensor {
  checkTensor('oneHot', 'indices', indices);
  checkOptions('oneHot', options, { ...OUT, dtype: 'any' });
  const { backend } = indices;
  const dtype = checkDType('oneHot', options.dtype ?? 'f32');
  const from = ELEMENT_TYPES[indices.dtype].value;
  if (from === 'f32') throw refuse('oneHot', `takes integers, got ${indices.dtype}${shapeText(indices.shape)}`);
  const shape = checkShape('oneHot', [...indices.shape, depth]);
  return produce('oneHot', backend, shape, dtype, options, (result) => {
    const { ptr } = indices;
    const inputs = { index: { ptr, dtype: indices.dtype, strides: [...indices.strides, 0] } };
    const call = { shape, inputs, outputs: { y: placeOver(result, shape) } };
    launch('oneHot', [indices], () => launchKernel(backend, kernelOf(from, ELEMENT_TYPES[dtype].value), call));
  });
}

function kernelOf(from: 'i32' | 'u32', to: NumberType): Kernel {
  return kernels.of(
    `${from} ${to}`,
    () =>
      defineKernel('oneHot', { inputs: { index: from } }, ({ index }, k) => {
        // By bits, a negative index is beyond every depth.
        const own = from === 'i32' ? k.toU32(index as Value<'i32'>) : (index as Value<'u32'>);
        const isHere = k.eq(own, k.index(-1));
        if (to === 'f32') return { y: k.toF32(isHere) };
        return { y: to === 'i32' ? k.select(isHere, k.i32(1), 0) : truth(k, isHere) };
      }) as Kernel,
  );
}
