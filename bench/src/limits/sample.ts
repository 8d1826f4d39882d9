import type { FloatDType } from '@concord/backend-core';
import type { Expected } from './limit-case.ts';

/** Of the magnitude of the terms: hundreds of roundings, while a wrong term is a million. */
const TOLERANCE = 1e-5;
/** One rounding to f16. */
const HALF_ROUNDING = 2 ** -10;

/** Indices all over a result, the first and the last among them. */
export function sampleIndices(length: number, samples = 64): number[] {
  // A step without a common factor with the row length visits all columns.
  const step = Math.max(1, Math.floor(length / samples)) | 1;
  return [...Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step), length - 1];
}

/** What is wrong with an entry, or undefined. */
export function findError(
  index: number,
  got: number,
  { value, magnitude }: Expected,
  dtype: FloatDType,
): string | undefined {
  const most = TOLERANCE * magnitude + (dtype === 'f16' ? HALF_ROUNDING * Math.abs(value) : 0);
  if (Math.abs(got - value) <= most) return undefined;
  return `wrong result: entry ${index} is ${got} instead of ${value} (at most ${most} off)`;
}
