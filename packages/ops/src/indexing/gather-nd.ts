import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { OUT, checkOptions, checkTensors } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import { sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import { slice } from '../views/slice.ts';

/** Axes of a gather input, at most. */
const MAX_AXES = 4;

/**
 * Parts of a tensor by places along its first axes: the last axis of `indices` is a place, `y[i, j] = x[indices[i, 0], indices[i, 1], j]`. What
 * is outside, negative indices too, reads as 0. Places have at most four indices, three where they name no single elements.
 *
 * ONNX GatherND without batches.
 *
 * @param indices - i32 or u32, `[..., m]` with m from 1 to the number of axes of `x`
 * @throws {BackendError} INVALID_ARGUMENT for indices of another type or shape
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const indices = tensor(backend, [1, 0, 0, 1], [2, 2], { dtype: 'i32' });
 * await gatherNd(tensor(backend, [[1, 2], [3, 4]]), indices).toArray(); // [3, 2]
 * ```
 */
export function gatherNd(x: Tensor, indices: Tensor, options: OutOption = {}): Tensor {
  const op = 'gatherNd';
  checkTensors(op, { x, indices });
  checkOptions(op, options, OUT);
  checkSameBackend(op, x.backend, [indices]);
  const from = ELEMENT_TYPES[indices.dtype].value;
  const count = indices.shape.at(-1) ?? 0;
  const others = x.shape.slice(count);
  if (from === 'f32' || count < 1 || count > x.rank || count + Math.min(others.length, 1) > MAX_AXES) {
    throw refuse(op, `${indices.dtype}${shapeText(indices.shape)} are not places in ${shapeText(x.shape)}`);
  }
  const before = indices.shape.slice(0, -1);
  return produce(op, x.backend, [...before, ...others], x.dtype, options, (result) => {
    if (!result.isDense) throw refuse(op, `out ${shapeText(result.shape)} must be dense`);
    tidy(() => {
      const shape = [sizeOf(before), sizeOf(others)];
      const source = reshape(x, [...x.shape.slice(0, count), ...(others.length > 0 ? [shape[1] as number] : [])]);
      const list = reshape(indices, [shape[0] as number, count]);
      const own = Array.from({ length: count }, (_, at): [string, { ptr: Tensor['ptr']; strides: number[] }] => {
        const { ptr, strides } = slice(list, [null, at]);
        return [`i${at}`, { ptr, dtype: list.dtype, strides: [strides[0] as number, 0] } as never];
      });
      const { ptr, dtype, strides } = source;
      const inputs = { x: { ptr, dtype, strides, shape: source.shape }, ...Object.fromEntries(own) };
      const outputs = { y: { ptr: result.ptr, dtype: result.dtype } };
      const kernel = kernelOf(ELEMENT_TYPES[x.dtype].value, from, count, source.rank);
      launch(op, [x, indices], () => launchKernel(x.backend, kernel, { shape, inputs, outputs }));
    });
  });
}

const kernels = new Kernels();

function kernelOf(type: NumberType, from: 'i32' | 'u32', count: number, rank: number): Kernel {
  return kernels.of(`${type} ${from} ${count} ${rank}`, () => {
    const named = Array.from({ length: count }, (_, at) => at);
    const x = { type, access: 'gather', rank: rank as 1 } as const;
    const inputs = { x, ...Object.fromEntries(named.map((at) => [`i${at}`, from])) };
    return defineKernel('gatherNd', { inputs }, (symbols, k) => {
      const all = symbols as unknown as Readonly<Record<string, Value<'u32'>>>;
      const places = named.map((at) => all[`i${at}`] as Value<'u32'>);
      return { y: k.gather(symbols.x, rank > count ? [...places, k.index(1)] : places, 0) };
    }) as Kernel;
  });
}
