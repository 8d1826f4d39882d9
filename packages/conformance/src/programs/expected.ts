import type { DType } from '@concord/backend-core';
import { compareAll, type Tolerance } from '../checks/compare.ts';
import { bytesOf, encodeElement, numbersIn } from '../run/storage.ts';
import type { Expected } from './program-call.ts';

/** Numbers that every device takes as they are: neither infinite nor subnormal, and far from where sums overflow. */
const isPlain = (x: number): boolean => x === 0 || (Math.abs(x) >= 2 ** -100 && Math.abs(x) <= 2 ** 60);

/** Sums of whole numbers, and of their halves, up to here are exact in any order. */
const MAX_EXACT = 2 ** 22;

/** The numbers in the bytes of an operand; undefined where one is such that the answer would not be sure. */
export function plainValues(dtype: DType, bytes: Uint8Array): Float64Array | undefined {
  const values = numbersIn(dtype, bytes);
  return values.every(isPlain) ? values : undefined;
}

/** True if sums of products of those have no rounding, as long as the magnitudes of the terms add up to little enough. */
export const areWhole = (values: ArrayLike<number>): boolean =>
  Array.prototype.every.call(values, (x: number) => Number.isInteger(2 * x) && Math.abs(x) <= MAX_EXACT);

/** True if a sum of whole terms of that magnitude has no rounding. */
export const isExactSum = (magnitude: number): boolean => magnitude <= MAX_EXACT;

/** Results with a tolerance; those whose bound is 0 are known to the bit, but for the sign of zero. */
export function expectedValues(
  name: string,
  dtype: DType,
  distances: ArrayLike<number>,
  value: ArrayLike<number>,
  tolerance: Tolerance,
): Expected {
  return {
    bitsOf: (index) => {
      const wanted = value[index] as number;
      return Number.isFinite(wanted) && tolerance.bound(index) === 0 ? encodeElement(dtype, wanted) : undefined;
    },
    judge: (after) => compareAll(name, elementsAt(dtype, after, distances), value, tolerance),
  };
}

/** The numbers at some distances from the start of an operand. */
export function elementsAt(dtype: DType, bytes: Uint8Array, distances: ArrayLike<number>): Float64Array {
  const numbers = numbersIn(dtype, bytes);
  return Float64Array.from(distances, (at) => numbers[at] as number);
}

/** The distances of elements that lie one after the other. */
export const inOrder = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, index) => index);

/** True if elements of the dtype are floating-point numbers. */
export const isFloat = (dtype: DType): boolean => dtype === 'f32' || dtype === 'f16' || dtype === 'bf16';

/** True if the bits are a zero of a floating-point dtype. */
export const isFloatZero = (dtype: DType, bits: number): boolean =>
  isFloat(dtype) && bits % 2 ** (8 * bytesOf(dtype) - 1) === 0;
