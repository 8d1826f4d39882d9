import { type DType, ELEMENT_TYPES } from '../contract/element-types.ts';
import { describe } from '../contract/checks.ts';
import { invalid } from '../errors/invalid.ts';
import { toBf16Array } from './bf16.ts';
import { toF16Array } from './f16.ts';

/** The typed array in which the host holds elements of each type: half precision as float32. */
export interface HostArrays {
  f32: Float32Array;
  f16: Float32Array;
  bf16: Float32Array;
  i32: Int32Array;
  u32: Uint32Array;
  i8: Int8Array;
  u8: Uint8Array;
}

/** One of {@link HostArrays}. */
export type HostArray = HostArrays[DType];

/** The argument of {@link upload}. */
export type HostData = readonly number[] | HostArray;

/** {@link HostData} as a device holds it. */
export type StoredArray = HostArray | Uint16Array;

/** The element types that each class of typed array can be stored as; the first is the default. */
const DTYPES_OF: Readonly<Record<string, readonly [DType, ...DType[]]>> = {
  Float32Array: ['f32', 'f16', 'bf16'],
  Int32Array: ['i32'],
  Uint32Array: ['u32'],
  Int8Array: ['i8'],
  Uint8Array: ['u8'],
};

/**
 * Host data as the bytes that a device holds.
 *
 * @param dtype - undefined: that of the array
 * @throws {BackendError} INVALID_ARGUMENT for anything else than {@link HostData}, and what `dtype` does not hold
 */
export function storedArray(data: unknown, dtype: DType | undefined): StoredArray {
  if (Array.isArray(data)) return storedNumbers(data as unknown[], dtype ?? 'f32');
  // Not `instanceof`: the array may come from another realm (an iframe, node:vm).
  const name = ArrayBuffer.isView(data) ? Object.prototype.toString.call(data).slice('[object '.length, -1) : '';
  const held = Object.hasOwn(DTYPES_OF, name) ? DTYPES_OF[name] : undefined;
  if (held === undefined) {
    const types = Object.keys(DTYPES_OF).join(', ');
    const ofBigInts = name.startsWith('Big') ? ', Number' : '';
    throw invalid(`upload takes an array of numbers or one of ${types}, got ${describe(data)}`, {
      ...(name.endsWith('Array') && {
        hint: `convert with Float32Array.from(data${ofBigInts}), which rounds to float32`,
      }),
    });
  }
  if (dtype !== undefined && !held.includes(dtype)) {
    throw invalid(`a ${name} is uploaded as ${held.join(' or ')}, not as ${dtype}`);
  }
  return narrowed(data as Float32Array, dtype);
}

function storedNumbers(data: readonly unknown[], dtype: DType): StoredArray {
  const bad = data.findIndex((value) => typeof value !== 'number');
  if (bad >= 0) throw invalid(`data[${bad}] must be a number, got ${describe(data[bad])}`);
  const numbers = data as readonly number[];
  const { range, Stored } = ELEMENT_TYPES[dtype];
  if (range === undefined) return narrowed(Float32Array.from(numbers), dtype);
  const [min, max] = range;
  const outside = numbers.findIndex((value) => !Number.isInteger(value) || value < min || value > max);
  if (outside >= 0) {
    throw invalid(`data[${outside}] must be an integer from ${min} to ${max}, got ${describe(numbers[outside])}`);
  }
  return Stored.from(numbers);
}

function narrowed(values: Float32Array, dtype: DType | undefined): Float32Array | Uint16Array {
  if (dtype === 'f16') return toF16Array(values);
  return dtype === 'bf16' ? toBf16Array(values) : values;
}
