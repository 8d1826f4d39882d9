import type { ComputeBackend, WaitOptions } from '../contract/backend.ts';
import { BYTES_OF, type FloatDType } from '../contract/capabilities.ts';
import { checkDType, checkOptions, checkSize, describe } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { invalid } from '../errors/invalid.ts';
import { checkBackend } from './check-backend.ts';
import { fromF16Array, toF16Array } from './f16.ts';

/** Options of {@link upload}. */
export interface UploadOptions {
  /** Element type on the device. Default `'f32'`; `'f16'` rounds to nearest even. */
  readonly dtype?: FloatDType;
  readonly label?: string;
}

/** Options of {@link download}. */
export interface DownloadOptions extends WaitOptions {
  /** Element type on the device. Default `'f32'`. */
  readonly dtype?: FloatDType;
}

/**
 * Allocates device memory for `data` and copies it there. The caller frees it.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but a non-empty Float32Array or array of numbers
 * @throws {BackendError} OUT_OF_MEMORY
 */
export function upload(
  backend: ComputeBackend,
  data: Float32Array | readonly number[],
  options: UploadOptions = {},
): DevicePtr {
  checkBackend('upload', backend);
  checkOptions(options);
  const dtype = checkDType(options.dtype);
  const values = float32(data);
  if (values.length === 0) throw invalid('upload of an empty or detached array');
  const ptr = backend.alloc(
    values.length * BYTES_OF[dtype],
    options.label === undefined ? {} : { label: options.label },
  );
  try {
    backend.copyHtod(ptr, dtype === 'f16' ? toF16Array(values) : values);
  } catch (error) {
    backend.free(ptr);
    throw error;
  }
  return ptr;
}

/**
 * Copies `length` elements from the device into a new Float32Array, after the work queued so far.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 * @throws {BackendError} DEVICE_ERROR on timeout
 */
export async function download(
  backend: ComputeBackend,
  ptr: DevicePtr,
  length: number,
  options: DownloadOptions = {},
): Promise<Float32Array> {
  checkBackend('download', backend);
  checkOptions(options);
  const { dtype: wanted, ...wait } = options;
  const dtype = checkDType(wanted);
  checkSize('length', length);
  const onDevice = dtype === 'f16' ? hostArray(Uint16Array, length) : hostArray(Float32Array, length);
  await backend.copyDtoh(onDevice, ptr, wait);
  return onDevice instanceof Uint16Array ? fromF16Array(onDevice) : onDevice;
}

function hostArray<T>(type: new (length: number) => T, length: number): T {
  try {
    return new type(length);
  } catch (cause) {
    throw invalid(`the host cannot hold an array of ${length} elements`, { cause });
  }
}

function float32(data: unknown): Float32Array {
  // Not `instanceof`: the array may come from another realm (an iframe, node:vm).
  if (ArrayBuffer.isView(data) && Object.prototype.toString.call(data) === '[object Float32Array]') {
    return data as Float32Array;
  }
  if (Array.isArray(data)) {
    const bad = data.findIndex((value) => typeof value !== 'number');
    if (bad >= 0) throw invalid(`data[${bad}] must be a number, got ${describe(data[bad])}`);
    return Float32Array.from(data as number[]);
  }
  throw invalid(`upload takes a Float32Array or an array of numbers, got ${describe(data)}`, {
    hint: 'convert with Float32Array.from(data), which rounds to float32',
  });
}
