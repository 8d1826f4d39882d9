import { BYTES_OF, type DType, fromBf16Array, fromF16Array, toBf16Array, toF16Array } from '@concord/backend-core';
import type { StoredElements } from '@concord/backend-cpu/reference';
import type { Numbers } from './program-api.ts';

/** Numbers as they lie in memory; of f16 and bf16 the bits. Integers wrap, as in a typed array. */
export function storedOf(dtype: DType, numbers: Numbers): StoredElements {
  switch (dtype) {
    case 'f32':
      return Float32Array.from(numbers);
    case 'f16':
      return toF16Array(Float32Array.from(numbers));
    case 'bf16':
      return toBf16Array(Float32Array.from(numbers));
    case 'i32':
      return Int32Array.from(numbers);
    case 'u32':
      return Uint32Array.from(numbers);
    case 'i8':
      return Int8Array.from(numbers);
    case 'u8':
      return Uint8Array.from(numbers);
  }
}

/** Memory as elements of a type. */
export function elementsOf(dtype: DType, bytes: Uint8Array<ArrayBuffer>): StoredElements {
  const length = bytes.byteLength / BYTES_OF[dtype];
  const views = {
    f32: Float32Array,
    f16: Uint16Array,
    bf16: Uint16Array,
    i32: Int32Array,
    u32: Uint32Array,
    i8: Int8Array,
    u8: Uint8Array,
  };
  return new views[dtype](bytes.buffer, bytes.byteOffset, length);
}

/** Elements as numbers. */
export function numbersOf(dtype: DType, elements: StoredElements): StoredElements {
  if (dtype === 'f16') return fromF16Array(elements as Uint16Array);
  if (dtype === 'bf16') return fromBf16Array(elements as Uint16Array);
  return elements;
}
