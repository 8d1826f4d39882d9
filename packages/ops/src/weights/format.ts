import type { DType } from '@concord/backend-core';

/** Element types of the safetensors format. */
export type SafetensorsDType =
  | 'BOOL'
  | 'U8'
  | 'I8'
  | 'F8_E5M2'
  | 'F8_E4M3'
  | 'I16'
  | 'U16'
  | 'F16'
  | 'BF16'
  | 'I32'
  | 'U32'
  | 'F32'
  | 'I64'
  | 'U64'
  | 'F64';

/** Bytes per element of each type of the format. */
export const FORMAT_BYTES: Readonly<Record<SafetensorsDType, 1 | 2 | 4 | 8>> = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E5M2: 1,
  F8_E4M3: 1,
  I16: 2,
  U16: 2,
  F16: 2,
  BF16: 2,
  I32: 4,
  U32: 4,
  F32: 4,
  I64: 8,
  U64: 8,
  F64: 8,
};

/** The types that a device holds, by their names in the format. */
export const DTYPE_OF_FORMAT: Readonly<Partial<Record<SafetensorsDType, DType>>> = {
  F32: 'f32',
  F16: 'f16',
  BF16: 'bf16',
  I32: 'i32',
  U32: 'u32',
  I8: 'i8',
  U8: 'u8',
};

/** The names in the format of the types that a device holds. */
export const FORMAT_OF_DTYPE: Readonly<Record<DType, SafetensorsDType>> = {
  f32: 'F32',
  f16: 'F16',
  bf16: 'BF16',
  i32: 'I32',
  u32: 'U32',
  i8: 'I8',
  u8: 'U8',
};

/** Bytes in front of the header: its length, little-endian. */
export const LENGTH_BYTES = 8;

/** The largest header that is read, as in the format's reference implementation. */
export const MAX_HEADER_BYTES = 100_000_000;

/** The entry of a file about one tensor. */
export interface SafetensorsEntry {
  readonly name: string;
  readonly shape: readonly number[];
  /** Element type in the file. */
  readonly format: SafetensorsDType;
  /** The element type on a device; undefined where devices have none, as for I64. */
  readonly dtype: DType | undefined;
  /** Bytes of the elements. */
  readonly bytes: number;
}

/** {@link SafetensorsEntry} with the place of the elements: bytes from the start of the file. */
export interface PlacedEntry extends SafetensorsEntry {
  readonly start: number;
}

/** The header of a file. */
export interface SafetensorsHeader {
  /** Tensors in the order of their elements in the file. */
  readonly tensors: readonly PlacedEntry[];
  readonly metadata: Readonly<Record<string, string>>;
}
