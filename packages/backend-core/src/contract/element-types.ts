/** The element types of the contract, by name. */
export const DTYPES = ['f32', 'f16', 'bf16', 'i32', 'u32', 'i8', 'u8'] as const;

/**
 * Element type of a tensor in device memory. `f16` is IEEE binary16, `bf16` the upper half of a float32. The named
 * ops take `f32` and `f16`; `run` takes them all.
 */
export type DType = (typeof DTYPES)[number];

/** Element type of the products, convolution and attention. */
export type FloatDType = 'f32' | 'f16';

/** Element type of operands that float32 ops may read: keys and values of attention, filters of a convolution. */
export type StoredFloatDType = FloatDType | 'bf16';

/** Element type of the second operand of a product. `i4` and `u4` lie two in a byte, the first in its low half. */
export type WeightDType = FloatDType | 'bf16' | 'i8' | 'u8' | 'i4' | 'u4';

/** Element types of which a byte holds two, the first in its low half: of weights, and of inputs of `run`. */
export type NibbleDType = 'i4' | 'u4';

/** Bits of an element of each {@link WeightDType}. */
export const WEIGHT_BITS: Readonly<Record<WeightDType, 4 | 8 | 16 | 32>> = {
  f32: 32,
  f16: 16,
  bf16: 16,
  i8: 8,
  u8: 8,
  i4: 4,
  u4: 4,
};

/** An element type: in device memory, and as a value of a kernel. */
export interface ElementType {
  /** Bytes of an element in memory. */
  readonly bytes: 1 | 2 | 4;
  /** The type of its values in a kernel. */
  readonly value: 'f32' | 'i32' | 'u32';
  /** The typed array of its elements in memory; of `f16` and `bf16` it has their bits. */
  readonly Stored:
    | Float32ArrayConstructor
    | Uint16ArrayConstructor
    | Int32ArrayConstructor
    | Uint32ArrayConstructor
    | Int8ArrayConstructor
    | Uint8ArrayConstructor;
  /** Bits of a float's exponent and fraction; one more holds the sign. */
  readonly float?: { readonly exponentBits: number; readonly fractionBits: number };
  /** The smallest and the largest integer. */
  readonly range?: readonly [min: number, max: number];
}

/** All that is known of each element type. */
export const ELEMENT_TYPES: Readonly<Record<DType, ElementType>> = {
  f32: { bytes: 4, value: 'f32', Stored: Float32Array, float: { exponentBits: 8, fractionBits: 23 } },
  f16: { bytes: 2, value: 'f32', Stored: Uint16Array, float: { exponentBits: 5, fractionBits: 10 } },
  bf16: { bytes: 2, value: 'f32', Stored: Uint16Array, float: { exponentBits: 8, fractionBits: 7 } },
  i32: { bytes: 4, value: 'i32', Stored: Int32Array, range: [-(2 ** 31), 2 ** 31 - 1] },
  u32: { bytes: 4, value: 'u32', Stored: Uint32Array, range: [0, 2 ** 32 - 1] },
  i8: { bytes: 1, value: 'i32', Stored: Int8Array, range: [-128, 127] },
  u8: { bytes: 1, value: 'u32', Stored: Uint8Array, range: [0, 255] },
};

/** Bytes per element. */
export const BYTES_OF = Object.fromEntries(DTYPES.map((dtype) => [dtype, ELEMENT_TYPES[dtype].bytes])) as Readonly<
  Record<DType, 1 | 2 | 4>
>;
