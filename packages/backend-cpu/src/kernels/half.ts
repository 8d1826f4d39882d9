/**
 * float16 storage for the kernels: a table of all 65,536 values, built on first use, turns decoding into one load.
 */

import { f16BitsToF32 } from '@concord/backend-core';

/** Elements of a matrix: float32, or the bits of float16. */
export type Storage = Float32Array | Uint16Array;

let table: Float32Array | undefined;
let scratch: Float32Array | undefined;

/** The maximum number of elements that {@link decodeBlock} takes at once. */
export const DECODE_LIMIT = 65_536;

function decodeTable(): Float32Array {
  if (table === undefined) {
    table = new Float32Array(65_536);
    for (let bits = 0; bits < 65_536; bits++) table[bits] = f16BitsToF32(bits);
  }
  return table;
}

/**
 * Decodes `rows` runs of `length` elements that lie `stride` apart into packed float32. The result is shared scratch,
 * valid until the next call.
 */
export function decodeBlock(
  source: Uint16Array,
  start: number,
  stride: number,
  rows: number,
  length: number,
): Float32Array {
  const values = decodeTable();
  scratch ??= new Float32Array(DECODE_LIMIT);
  const target = scratch;
  for (let row = 0, to = 0; row < rows; row++) {
    const from = start + row * stride;
    for (let i = 0; i < length; i++, to++) target[to] = values[source[from + i] as number] as number;
  }
  return target;
}
