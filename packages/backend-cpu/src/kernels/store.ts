/**
 * The end of every product: float64 sums are rounded to float32, which makes those beyond its range infinite, and become
 * elements of C, `alpha * sum + beta * C`, in the storage type. With beta 0 the old C is not read.
 */

import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { Storage } from './half.ts';

/** Stores `sums[from .. from + count - 1]` to `c[to ..]`. */
export function storeRow(
  sums: Float64Array,
  from: number,
  c: Storage,
  to: number,
  count: number,
  alpha: number,
  beta: number,
): void {
  if (c instanceof Uint16Array) storeHalves(sums, from, c, to, count, alpha, beta);
  else storeFloats(sums, from, c, to, count, alpha, beta);
}

function storeFloats(
  sums: Float64Array,
  from: number,
  c: Float32Array,
  to: number,
  count: number,
  alpha: number,
  beta: number,
): void {
  if (beta === 0) {
    for (let i = 0; i < count; i++) c[to + i] = alpha * Math.fround(sums[from + i] as number);
  } else {
    for (let i = 0; i < count; i++)
      c[to + i] = alpha * Math.fround(sums[from + i] as number) + beta * (c[to + i] as number);
  }
}

function storeHalves(
  sums: Float64Array,
  from: number,
  c: Uint16Array,
  to: number,
  count: number,
  alpha: number,
  beta: number,
): void {
  for (let i = 0; i < count; i++) {
    const product = alpha * Math.fround(sums[from + i] as number);
    c[to + i] = f32ToF16Bits(beta === 0 ? product : product + beta * f16BitsToF32(c[to + i] as number));
  }
}
