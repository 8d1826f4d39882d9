import { fromBf16Array, fromF16Array, toBf16Array, toF16Array } from '@concord/backend-core';
import { refuse, unsupported } from '../errors.ts';

/** Element types, by the numbers of TensorProto and the names that ONNX Runtime gives them in JavaScript. */
export const ELEMENT_TYPES = {
  1: 'float32',
  2: 'uint8',
  3: 'int8',
  4: 'uint16',
  5: 'int16',
  6: 'int32',
  7: 'int64',
  8: 'string',
  9: 'bool',
  10: 'float16',
  11: 'float64',
  12: 'uint32',
  13: 'uint64',
  16: 'bfloat16',
  21: 'uint4',
  22: 'int4',
} as const;

/** The type of a tensor's elements, as ONNX Runtime calls it in JavaScript. */
export type ElementType = (typeof ELEMENT_TYPES)[keyof typeof ELEMENT_TYPES];

/** Elements on the host: f16 and bf16 by their bits, 4 bits packed, the low half first. */
export type HostData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | readonly string[];

/** A tensor in the host's memory, dense, row-major. */
export interface HostTensor {
  readonly type: ElementType;
  readonly dims: readonly number[];
  readonly data: HostData;
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  uint4: Uint8Array,
  int4: Uint8Array,
} as const;

/** A class of typed arrays. */
export interface ArrayClass {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBuffer, byteOffset?: number, length?: number): Exclude<HostData, readonly string[]>;
}

/** The class of an element type's array. */
export function arrayOf(type: Exclude<ElementType, 'string'>): ArrayClass {
  return ARRAYS[type];
}

/**
 * The element type of a number of TensorProto.
 *
 * @throws {BackendError} UNSUPPORTED for one that there is no support for
 */
export function elementType(what: string, number: number | undefined): ElementType {
  const type = (ELEMENT_TYPES as Readonly<Record<number, ElementType>>)[number ?? 0];
  if (type === undefined) throw unsupported(`${what} has element type ${String(number)}, which is not supported`);
  return type;
}

/** The number of elements. */
export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((size, dim) => size * dim, 1);
}

/** The places of the array of so many elements. */
export function lengthOf(type: ElementType, dims: readonly number[]): number {
  return type === 'int4' || type === 'uint4' ? Math.ceil(sizeOf(dims) / 2) : sizeOf(dims);
}

/** A number of any element type. */
export type Scalar = number | bigint;

/** Returns whether elements are bigints. */
export function isWide(type: ElementType): type is 'int64' | 'uint64' {
  return type === 'int64' || type === 'uint64';
}

/** Returns whether elements are floats. */
export function isFloat(type: ElementType): boolean {
  return type.startsWith('float') || type === 'bfloat16';
}

/** The elements as numbers, or bigints of int64 and uint64. */
export function scalars({ type, dims, data }: HostTensor): ArrayLike<Scalar> {
  if (type === 'float16') return fromF16Array(data as Uint16Array);
  if (type === 'bfloat16') {
    return fromBf16Array(data as Uint16Array);
  }
  if (type === 'string') throw refuse('texts are no numbers');
  if (type === 'uint4' || type === 'int4') {
    const nibble = (i: number): number => ((data[i >> 1] as number) >> (4 * (i & 1))) & 15;
    return Array.from({ length: sizeOf(dims) }, (_, i) => (type === 'uint4' ? nibble(i) : (nibble(i) ^ 8) - 8));
  }
  return data as ArrayLike<Scalar>;
}

/** The elements as numbers. */
export function numbersOf(tensor: HostTensor): number[] {
  return Array.from(scalars(tensor), Number);
}

/** A tensor of numbers, each stored as its type stores it: integers wrap, floats round. */
export function hostTensor(type: ElementType, dims: readonly number[], values: ArrayLike<Scalar>): HostTensor {
  if (type === 'string') throw unsupported(`${type} is not computed with`);
  const length = sizeOf(dims);
  if (type === 'uint4' || type === 'int4') {
    const packed = new Uint8Array(lengthOf(type, dims));
    for (let i = 0; i < length; i++)
      packed[i >> 1] = (packed[i >> 1] as number) | ((Number(values[i]) & 15) << (4 * (i & 1)));
    return { type, dims, data: packed };
  }
  if (isWide(type)) {
    const data = new ARRAYS[type](length);
    for (let i = 0; i < length; i++) {
      const value = values[i] as Scalar;
      data[i] = typeof value === 'bigint' ? value : wholeOf(value);
    }
    return { type, dims, data };
  }
  if (type === 'float16') return { type, dims, data: toF16Array(Float64Array.from(values, Number)) };
  if (type === 'bfloat16') return { type, dims, data: toBf16Array(Float64Array.from(values, Number)) };
  const data = new ARRAYS[type](length);
  const whole = !isFloat(type);
  for (let i = 0; i < length; i++) {
    const value = values[i] as Scalar;
    data[i] = typeof value !== 'bigint' ? value : whole ? Number(BigInt.asIntN(32, value)) : Number(value);
  }
  return { type, dims, data };
}

function wholeOf(value: number): bigint {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : 0n;
}

/** int64 numbers of one axis. */
export function int64s(values: readonly Scalar[]): HostTensor {
  return hostTensor('int64', [values.length], values);
}
