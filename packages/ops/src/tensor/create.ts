import {
  BYTES_OF,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  DTYPES,
  type HostArray,
  NULL_PTR,
  upload,
} from '@concord/backend-core';
import { CREATE, checkBackend, checkOptions, shown } from './arguments.ts';
import { allocate, made, owning } from './allocate.ts';
import { launch, refuse, shapeText } from './errors.ts';
import { sharedLayout } from './layout.ts';
import { denseStrides, MAX_RANK, sizeOf } from './shape.ts';
import { Storage } from './storage.ts';
import { Tensor } from './tensor.ts';

/** Lists of lists of numbers, all of one length at each depth. */
export type Nested = number | readonly Nested[];

/** Options of the functions that make tensors. */
export interface CreateOptions {
  /** Element type on the device. Default: that of the array, `'f32'` for numbers. */
  readonly dtype?: DType;
  /** Name used in error messages and by the driver's tools. */
  readonly label?: string;
}

/**
 * A tensor of numbers of the host: a number, lists of lists of them, or a typed array with a shape.
 *
 * f32, f16 and bf16 round to nearest even; integers must be in range. A typed array keeps its type, a Float32Array may
 * become f16 or bf16.
 *
 * @param shape - default: that of the lists, `[length]` of a typed array
 * @throws {BackendError} INVALID_ARGUMENT for ragged lists, and where the shape does not hold as many elements
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2, 3], [4, 5, 6]]);
 * x.shape; // [2, 3]
 * using y = tensor(backend, new Float32Array(6), [3, 2], { dtype: 'f16' });
 * await y.toArray(); // [0, 0, 0, 0, 0, 0]
 * ```
 */
export function tensor(
  backend: ComputeBackend,
  data: Nested | HostArray,
  shape?: readonly number[],
  options: CreateOptions = {},
): Tensor {
  checkBackend('tensor', backend);
  checkOptions('tensor', options, CREATE);
  const given = elementsOf(data);
  const ofShape = shape === undefined ? given.shape : checkShape('tensor', shape);
  const { elements } = given;
  if (sizeOf(ofShape) !== elements.length) {
    throw refuse('tensor', `${elements.length} elements do not fill ${shapeText(ofShape)}`);
  }
  const dtype = options.dtype ?? (ArrayBuffer.isView(elements) ? dtypeOf(elements) : 'f32');
  if (elements.length === 0) return owning(backend, NULL_PTR, ofShape, checkDType('tensor', dtype));
  const { label } = options;
  return owning(backend, upload(backend, elements, label === undefined ? { dtype } : { dtype, label }), ofShape, dtype);
}

/**
 * A tensor on memory that the caller allocated and frees, which must outlive it.
 *
 * @param strides - in elements; default dense, row-major
 * @throws {BackendError} INVALID_ARGUMENT
 * @example
 * ```ts
 * const ptr = backend.alloc(8);
 * backend.fill(ptr, 0, 8);
 * using x = wrap(backend, ptr, [2], 'f32');
 * await x.toArray(); // [0, 0]
 * backend.free(ptr);
 * ```
 */
export function wrap(
  backend: ComputeBackend,
  ptr: DevicePtr,
  shape: readonly number[],
  dtype: DType = 'f32',
  strides?: readonly number[],
): Tensor {
  checkBackend('wrap', backend);
  const own = checkShape('wrap', shape);
  const steps = strides === undefined ? denseStrides(own) : checkShape('wrap', strides);
  if (steps.length !== own.length) throw refuse('wrap', `${shapeText(own)} with strides ${shapeText(steps)}`);
  if (!Number.isSafeInteger(ptr)) throw refuse('wrap', `takes the address that alloc returned, got ${shown(ptr)}`);
  const storage = new Storage(backend, ptr, sizeOf(own) * BYTES_OF[checkDType('wrap', dtype)], false);
  return made(new Tensor(storage, sharedLayout(own, steps, dtype)));
}

/**
 * A tensor with unspecified contents, to be an `out`.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using y = empty(backend, [2]);
 * add(tensor(backend, [1, 2]), 1, { out: y });
 * await y.toArray(); // [2, 3]
 * ```
 */
export function empty(backend: ComputeBackend, shape: readonly number[], options: CreateOptions = {}): Tensor {
  checkBackend('empty', backend);
  checkOptions('empty', options, CREATE);
  const dtype = checkDType('empty', options.dtype ?? 'f32');
  return allocate('empty', backend, checkShape('empty', shape), dtype, options.label);
}

/**
 * A tensor of zeros.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = zeros(backend, [2, 2], { dtype: 'i32' });
 * await x.toArray(); // [0, 0, 0, 0]
 * ```
 */
export function zeros(backend: ComputeBackend, shape: readonly number[], options: CreateOptions = {}): Tensor {
  checkBackend('zeros', backend);
  checkOptions('zeros', options, CREATE);
  const dtype = checkDType('zeros', options.dtype ?? 'f32');
  const result = allocate('zeros', backend, checkShape('zeros', shape), dtype, options.label);
  try {
    if (result.size > 0) launch('zeros', [result], () => backend.fill(result.ptr, 0, result.size * BYTES_OF[dtype]));
  } catch (error) {
    result.dispose();
    throw error;
  }
  return result;
}

/** @throws {BackendError} INVALID_ARGUMENT unless it is a list of non-negative integers, at most 8 of them */
export function checkShape(op: string, shape: readonly number[]): readonly number[] {
  if (!Array.isArray(shape)) {
    const fields = typeof shape === 'object' ? { hint: 'options come after the shape' } : {};
    throw refuse(op, `shape must be a list of sizes, got ${shown(shape)}`, fields);
  }
  const own = [...shape] as number[];
  if (own.length > MAX_RANK) throw refuse(op, `${shapeText(own)} has more than ${MAX_RANK} axes`);
  const bad = own.findIndex((length) => !Number.isSafeInteger(length) || length < 0);
  if (bad >= 0) throw refuse(op, `shape ${shown(own)} has ${shown(own[bad])}, which is not a size`);
  return own;
}

/** @throws {BackendError} INVALID_ARGUMENT unless it is an element type */
export function checkDType(op: string, dtype: DType): DType {
  if (!DTYPES.includes(dtype)) throw refuse(op, `dtype must be one of ${DTYPES.join(', ')}, got ${shown(dtype)}`);
  return dtype;
}

const DTYPE_OF: Readonly<Record<string, DType>> = {
  Float32Array: 'f32',
  Int32Array: 'i32',
  Uint32Array: 'u32',
  Int8Array: 'i8',
  Uint8Array: 'u8',
};

/** Returns the dtype of an array; for any unknown one `upload` names the classes that it takes. */
function dtypeOf(array: HostArray): DType {
  return DTYPE_OF[array[Symbol.toStringTag]] ?? 'f32';
}

function elementsOf(data: Nested | HostArray): { elements: readonly number[] | HostArray; shape: readonly number[] } {
  if (typeof data === 'number') return { elements: [data], shape: [] };
  if (ArrayBuffer.isView(data)) return { elements: data, shape: [data.length] };
  const shape: number[] = [];
  for (let inner: Nested | undefined = data; Array.isArray(inner); inner = (inner as readonly Nested[])[0]) {
    shape.push(inner.length);
    if (shape.length > MAX_RANK) throw refuse('tensor', `lists nest deeper than ${MAX_RANK} axes`);
  }
  const elements: number[] = [];
  flatten(data, shape, 0, elements);
  return { elements, shape };
}

function flatten(data: Nested, shape: readonly number[], depth: number, into: number[]): void {
  if (depth === shape.length) {
    if (typeof data !== 'number') throw refuse('tensor', `has ${shown(data)} among its numbers`);
    into.push(data);
    return;
  }
  if (!Array.isArray(data) || data.length !== shape[depth]) {
    throw refuse('tensor', `lists at depth ${depth} must all have ${String(shape[depth])} entries`);
  }
  for (const each of data as readonly Nested[]) flatten(each, shape, depth + 1, into);
}
