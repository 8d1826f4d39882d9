import { type DType, fromBf16Array, fromF16Array, toBf16Array, toF16Array } from '@concord/backend-core';
import type { StoredElements } from '@concord/backend-cpu/reference';
import type { Numbers } from './program-api.ts';

/** The arrays that hold elements as they lie in memory; of f16 and bf16 the bits. */
const ARRAYS = {
  ...{ f32: Float32Array, f16: Uint16Array, bf16: Uint16Array },
  ...{ i32: Int32Array, u32: Uint32Array, i8: Int8Array, u8: Uint8Array },
};

/** Numbers as they lie in memory. Integers wrap, as in a typed array. */
export function storedOf(dtype: DType, numbers: Numbers): StoredElements {
  if (dtype === 'f16') return toF16Array(Float32Array.from(numbers));
  return dtype === 'bf16' ? toBf16Array(Float32Array.from(numbers)) : ARRAYS[dtype].from(numbers);
}

/** Room for elements as they lie in memory. */
export function emptyElements(dtype: DType, length: number): StoredElements {
  return new ARRAYS[dtype](length);
}

/** Elements as numbers. */
export function numbersOf(dtype: DType, elements: StoredElements): StoredElements {
  if (dtype === 'f16') return fromF16Array(elements as Uint16Array);
  return dtype === 'bf16' ? fromBf16Array(elements as Uint16Array) : elements;
}
