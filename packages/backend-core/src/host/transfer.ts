import type { ComputeBackend, WaitOptions } from '../contract/backend.ts';
import { type DType, DTYPES, ELEMENT_TYPES } from '../contract/element-types.ts';
import { checkOneOf, checkOptions, checkSize } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import { fromBf16Array } from './bf16.ts';
import { checkBackend } from './check-backend.ts';
import { fromF16Array } from './f16.ts';
import { type HostArrays, type HostData, storedArray, type StoredArray } from './stored-array.ts';

/** Options of {@link upload}. */
export interface UploadOptions {
  /**
   * Element type on the device. Default: that of the array, `'f32'` for numbers. Numbers and a Float32Array may become
   * `'f16'` or `'bf16'`, rounded to nearest even; integers are never converted.
   */
  readonly dtype?: DType;
  readonly label?: string;
}

/** Options of {@link download}. */
export interface DownloadOptions<D extends DType = DType> extends WaitOptions {
  /** Element type on the device. Default `'f32'`. */
  readonly dtype?: D;
}

/**
 * Allocates device memory for `data` and copies it there. The caller frees it.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but a non-empty array of numbers, Float32Array, Int32Array,
 *   Uint32Array, Int8Array or Uint8Array, and where that is not what `dtype` holds
 * @throws {BackendError} OUT_OF_MEMORY
 */
export function upload(backend: ComputeBackend, data: HostData, options: UploadOptions = {}): DevicePtr {
  checkBackend('upload', backend);
  checkOptions(options);
  const { dtype, label } = options;
  const stored = storedArray(data, dtype === undefined ? undefined : checkOneOf('dtype', dtype, DTYPES));
  if (stored.length === 0) throw invalid('upload of an empty or detached array');
  const ptr = backend.alloc(stored.byteLength, label === undefined ? {} : { label });
  try {
    backend.copyHtod(ptr, stored);
  } catch (error) {
    backend.free(ptr);
    throw error;
  }
  return ptr;
}

/**
 * Copies `length` elements from the device into a new array, after the work queued so far: a Float32Array of f32, f16 and
 * bf16, the typed array of the same name of integers.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 * @throws {BackendError} DEVICE_ERROR on timeout
 */
export async function download<D extends DType = 'f32'>(
  backend: ComputeBackend,
  ptr: DevicePtr,
  length: number,
  options: DownloadOptions<D> = {},
): Promise<HostArrays[D]> {
  checkBackend('download', backend);
  checkOptions(options);
  const { dtype: wanted = 'f32', ...wait } = options;
  const dtype = checkOneOf<DType>('dtype', wanted, DTYPES);
  checkSize('length', length);
  const stored = emptyArray(dtype, length);
  await backend.copyDtoh(stored, ptr, wait);
  return numbersOf(dtype, stored) as HostArrays[D];
}

function emptyArray(dtype: DType, length: number): StoredArray {
  try {
    return new ELEMENT_TYPES[dtype].Stored(length);
  } catch (cause) {
    throw invalid(`the host cannot hold an array of ${length} elements`, { cause });
  }
}

function numbersOf(dtype: DType, stored: StoredArray): StoredArray {
  if (dtype === 'f16') return fromF16Array(stored as Uint16Array);
  return dtype === 'bf16' ? fromBf16Array(stored as Uint16Array) : stored;
}
