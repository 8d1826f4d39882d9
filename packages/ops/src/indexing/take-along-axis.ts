import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkAxis } from '../compute/rows.ts';
import { OUT, checkOptions, checkTensors } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import { broadcastShapes, sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { expand } from '../views/expand.ts';
import { reshape } from '../views/reshape.ts';

/** Axes of a gather input, at most. */
const MAX_AXES = 4;

/**
 * `y[i, j, k] = x[i, indices[i, j, k], k]` with `axis` 1, and so for any other: what `argmax` and `topK` name, or
 * PyTorch's gather. What is outside of the axis, negative indices too, reads as 0.
 *
 * `x` and `indices` have equally many axes and broadcast, but for `axis`. One launch, and a copy of an `x` of more than four
 * axes of which those before or after `axis` do not lie as one.
 *
 * NumPy's take_along_axis; ONNX GatherElements.
 *
 * @param axis - default -1
 * @throws {BackendError} INVALID_ARGUMENT for indices that are not integers, shapes that do not fit, an axis that there is
 *   not
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 9, 5], [7, 2, 8]]);
 * const best = argmax(x, { axis: 1, keepDims: true });
 * await takeAlongAxis(x, best, 1).toArray(); // [9, 8]
 * ```
 */
export function takeAlongAxis(x: Tensor, indices: Tensor, axis: number = -1, options: OutOption = {}): Tensor {
  const op = 'takeAlongAxis';
  checkTensors(op, { x, indices });
  checkOptions(op, options, OUT);
  const own = checkAxis(op, x.shape, axis);
  const from = ELEMENT_TYPES[indices.dtype].value;
  if (from === 'f32') throw refuse(op, `takes integers as indices, got ${indices.dtype}${shapeText(indices.shape)}`);
  checkSameBackend(op, x.backend, [indices]);
  const shape = resultShape(x, indices, own);
  const length = x.shape[own] as number;
  const groups = groupsOf(x.rank, own);
  return produce(op, x.backend, shape, x.dtype, options, (result) => {
    tidy(() => {
      const whole = expand(
        x,
        shape.map((each, place) => (place === own ? length : each)),
      );
      const source = reshape(
        whole,
        groups.map((group) => sizeOf(group.map((place) => whole.shape[place] as number))),
      );
      const { ptr, dtype, strides } = source;
      const inputs = { x: { ptr, dtype, shape: source.shape, strides }, index: placeOver(indices, shape) };
      const call = { shape, inputs, outputs: { y: placeOver(result, shape) } };
      launch(op, [x, indices], () =>
        launchKernel(x.backend, kernelOf(ELEMENT_TYPES[x.dtype].value, from, x.rank, own), call),
      );
    });
  });
}

function resultShape(x: Tensor, indices: Tensor, axis: number): readonly number[] {
  const length = indices.shape[axis] as number;
  const others = x.shape.map((each, place) => (place === axis ? length : each));
  const shape = x.rank === indices.rank ? broadcastShapes(others, indices.shape) : undefined;
  if (shape !== undefined) return shape;
  throw refuse(
    'takeAlongAxis',
    `indices ${shapeText(indices.shape)} do not fit ${shapeText(x.shape)}: but for axis ${axis} sizes must be equal or 1`,
  );
}

/**
 * Groups the axes of `x` into those of the gather input: one each or, if these are too many, those around `axis`
 * together.
 */
function groupsOf(rank: number, axis: number): readonly (readonly number[])[] {
  const places = Array.from({ length: rank }, (_, place) => place);
  if (rank <= MAX_AXES) return places.map((place) => [place]);
  return [places.slice(0, axis), [axis], places.slice(axis + 1)];
}

const kernels = new Kernels();

function kernelOf(type: NumberType, from: 'i32' | 'u32', rank: number, axis: number): Kernel {
  return kernels.of(`${type} ${from} ${rank} ${axis}`, () => {
    const groups = groupsOf(rank, axis);
    const inputs = { x: { type, access: 'gather', rank: groups.length as 1 | 2 | 3 | 4 }, index: from } as const;
    return defineKernel('takeAlongAxis', { inputs }, ({ x, index }, k) => {
      const places = groups.map((group) => (group[0] === axis ? (index as Value<'u32'>) : placeOf(k, group)));
      return { y: k.gather<NumberType>(x, places, 0) };
    }) as Kernel;
  });
}

/** The place of a point in some of its axes, row-major. */
function placeOf(k: KernelBuilder, axes: readonly number[]): Value<'u32'> {
  let place: Value<'u32'> | undefined;
  for (const axis of axes) {
    const own = k.index(axis);
    place = place === undefined ? own : k.add(k.mul(place, k.extent(axis)), own);
  }
  return place ?? k.u32(0);
}
