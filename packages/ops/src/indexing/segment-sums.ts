import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import {
  defineKernel,
  type Kernel,
  type KernelBuilder,
  type NumberType,
  type Value,
} from '@concord/backend-core/kernel';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { launchKernel } from '../compute/launches.ts';
import { allocate } from '../tensor/allocate.ts';
import { launch } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { expand } from '../views/expand.ts';
import { slice } from '../views/slice.ts';
import { places } from './sort.ts';
import { takeAlongAxis } from './take-along-axis.ts';

/** Values that one launch adds up: so many times as long is a sum after it. */
const TOGETHER = 8;

/** Values by index along an axis, of which each element of the result is named once at most. */
export interface SegmentSums {
  /** -1, which is outside, for all values but the last of an index. */
  readonly indices: Tensor;
  /** The sum of all values of an index, in 32 bits, at the last of them. */
  readonly sums: Tensor;
}

/**
 * The sums of the values of each index along an axis, in an order that only the indices decide: sorted, then added up by powers of eight.
 * What indices broadcast along is sorted once.
 */
export function segmentSums(op: string, indices: Tensor, values: Tensor, axis: number): SegmentSums {
  const { backend } = indices;
  const { shape } = values;
  const length = shape[axis] as number;
  const isRepeated = (place: number): boolean => place !== axis && indices.strides[place] === 0;
  const once = slice(
    indices,
    shape.map((size, place) => (isRepeated(place) ? [0, Math.min(size, 1)] : [0, size])),
  );
  const order = places(op, once, axis, false);
  const sorted = expand(takeAlongAxis(once, order, axis), shape);
  const from = ELEMENT_TYPES[indices.dtype].value as 'i32' | 'u32';
  const type = ELEMENT_TYPES[values.dtype].value;
  const gathered = ({ ptr, dtype, strides }: Tensor): GatherPlace => ({ ptr, dtype, strides, shape });
  const index = { own: placeOver(sorted, shape), sorted: gathered(sorted) };
  let sums = takeAlongAxis(values, order, axis);
  for (let distance = 1; distance < length; distance *= TOGETHER) {
    const longer = allocate(op, backend, shape, type);
    const inputs = { ...index, sums: gathered(sums) };
    const call = { shape, inputs, params: { distance }, outputs: { y: longer.ptr } };
    launch(op, [indices, values], () => launchKernel(backend, sumKernel(type, from, shape.length, axis), call));
    sums = longer;
  }
  const last = allocate(op, backend, shape, 'i32');
  const call = { shape, inputs: index, outputs: { y: last.ptr } };
  launch(op, [indices], () => launchKernel(backend, lastKernel(from, shape.length, axis), call));
  return { indices: last, sums };
}

const kernels = new Kernels();

type GatherPlace = Pick<Tensor, 'ptr' | 'dtype' | 'strides' | 'shape'>;

function sumKernel(type: NumberType, from: 'i32' | 'u32', rank: number, axis: number): Kernel {
  return kernels.of(`sum ${type} ${from} ${rank} ${axis}`, () => {
    const inputs = {
      own: from,
      sorted: { type: from, access: 'gather', rank: rank as 1 },
      sums: { type, access: 'gather', rank: rank as 1 },
    } as const;
    return defineKernel('segment sums', { inputs, params: { distance: 'u32' } }, (symbols, k) => {
      const { own, sorted, sums, distance } = symbols;
      const at = placesAlong(k, rank, axis);
      const here = k.index(axis);
      let total = k.gather<NumberType>(sums, at(here), 0);
      for (let n = 1; n < TOGETHER; n++) {
        const before = k.sub(here, k.mul(distance, n));
        const isSame = k.eq(k.gather<'i32' | 'u32'>(sorted, at(before), k.not(own)), own);
        total = k.add(total, k.gather<NumberType>(sums, at(k.select(isSame, before, 0xffff_ffff)), 0));
      }
      return { y: total };
    }) as Kernel;
  });
}

/** The indices of a point with another along an axis. */
function placesAlong(k: KernelBuilder, rank: number, axis: number): (place: Value<'u32'>) => readonly Value<'u32'>[] {
  return (place) => Array.from({ length: rank }, (_, own) => (own === axis ? place : k.index(own)));
}

function lastKernel(from: 'i32' | 'u32', rank: number, axis: number): Kernel {
  return kernels.of(`last ${from} ${rank} ${axis}`, () => {
    const inputs = { own: from, sorted: { type: from, access: 'gather', rank: rank as 1 } } as const;
    return defineKernel('segment ends', { inputs }, ({ own, sorted }, k) => {
      const next = placesAlong(k, rank, axis)(k.add(k.index(axis), 1));
      const isLast = k.ne(k.gather<'i32' | 'u32'>(sorted, next, k.not(own)), own);
      // A u32 beyond every size stays so.
      return { y: k.select(isLast, k.bitcast('i32', own), -1) };
    }) as Kernel;
  });
}
