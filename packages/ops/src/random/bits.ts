import type { KernelBuilder, Value } from '@concord/backend-core/kernel';
import type { TensorLike } from '../compute/elementwise.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { Tensor } from '../tensor/tensor.ts';

/**
 * The streams of `k.random` that the functions draw from, so that one seed gives each of them its own numbers.
 * Element i, counted row-major, draws word i + offset.
 */
export const STREAMS = { uniform: 0, normalRadius: 1, normalAngle: 2, dropout: 3 } as const;

/** Random bits as a number: a multiple of 2^-24 from 0 to before 1. */
export function fraction(k: KernelBuilder, bits: Value<'u32'>): Value<'f32'> {
  return k.mul(k.toF32(k.shr(bits, 8)), 2 ** -24);
}

/** The place of a point in its domain, row-major. */
export function linearIndex(k: KernelBuilder, rank: number): Value<'u32'> {
  let index = k.index(0);
  for (let axis = 1; axis < rank; axis++) index = k.add(k.mul(index, k.extent(axis)), k.index(axis));
  return index;
}

/** @throws {BackendError} INVALID_ARGUMENT for a number that is not an integer from 0 to 2^32 - 1 */
export function checkU32(op: string, name: string, value: TensorLike): TensorLike {
  if (value instanceof Tensor || (Number.isInteger(value) && value >= 0 && value < 2 ** 32)) return value;
  throw refuse(op, `${name} must be an integer from 0 to 2^32 - 1, got ${String(value)}`);
}

/** @throws {BackendError} INVALID_ARGUMENT for more elements than a stream has words */
export function checkWords(op: string, shape: readonly number[], size: number): void {
  if (size < 2 ** 32) return;
  throw refuse(op, `${shapeText(shape)} has ${size} elements, a stream of random numbers 2^32`);
}
