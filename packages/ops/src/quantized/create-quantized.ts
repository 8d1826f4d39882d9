import type { ComputeBackend, FloatDType, QuantDType } from '@concord/backend-core';
import { checkBackend, checkOptions, type OptionKinds, shown } from '../tensor/arguments.ts';
import { checkShape, tensor } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { isNibbles, type QuantizedParts, QuantizedTensor } from './quantized-tensor.ts';

/** Numbers of the host. */
export type HostFloats = Float32Array | readonly number[];

/** Bytes of the host, of signed or unsigned elements. */
export type HostBytes = Uint8Array | Int8Array;

/** Options of {@link quantizedTensor}. */
export interface QuantizedTensorOptions {
  readonly shape: readonly number[];
  readonly dtype: QuantDType;
  /** Consecutive elements of a row that share a scale; the last block of a row may be short. */
  readonly block: number;
  /** The elements of each row, in whole bytes: of 4 bits two in a byte, the first in its low half. */
  readonly data: HostBytes;
  /** `[n, ceil(k / block)]`. */
  readonly scales: HostFloats;
  /** One for each scale: floats, or integers of `dtype` that lie as the elements do. Default: 0, 8 for `u4`, 128 for `u8`. */
  readonly zeros?: HostBytes | Float32Array | undefined;
  /** One for each scale, instead of zeros: an element is `q scale + offset`. */
  readonly offsets?: HostFloats | undefined;
  /** Element type of scales, offsets and float zeros on the device. Default `'f32'`. */
  readonly dtypeScales?: FloatDType | undefined;
}

/** Attributes and inputs of the ONNX node of {@link fromMatMulNBits}. */
export interface MatMulNBitsOptions {
  readonly n: number;
  readonly k: number;
  /** Default 4. */
  readonly bits?: 4 | 8 | undefined;
  readonly blockSize: number;
  /** `B`, `[n, ceil(k / blockSize), blockSize bits / 8]`. */
  readonly b: Uint8Array;
  /** `[n ceil(k / blockSize)]`; of f16 as numbers, by `fromF16Array`. */
  readonly scales: HostFloats;
  /** `zero_points`: packed, `[n, ceil(ceil(k / blockSize) bits / 8)]`, or floats as the scales are. Default: `2 ** (bits - 1)`. */
  readonly zeroPoints?: Uint8Array | Float32Array | undefined;
  /** Element type of the scales on the device. Default `'f32'`. */
  readonly dtypeScales?: FloatDType | undefined;
}

const KINDS: OptionKinds = Object.fromEntries(
  ['shape', 'dtype', 'block', 'data', 'scales', 'zeros', 'offsets', 'dtypeScales'].map((name) => [name, 'any']),
);
const NODE_KINDS: OptionKinds = {
  ...{ n: 'number', k: 'number', bits: 'any', blockSize: 'number', b: 'any' },
  ...{ scales: 'any', zeroPoints: 'any', dtypeScales: 'any' },
};
const DTYPES: readonly unknown[] = ['i8', 'u8', 'i4', 'u4'];
const FLOATS: readonly unknown[] = ['f32', 'f16'];

/**
 * A weight `[n, k]` of integers of 8 or 4 bits, whose blocks of a row have scales, and zeros or offsets.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a shape that is not `[n, k]`, a block that is none, arrays of other lengths
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const data = new Uint8Array([0x98, 0x7a]); // 8 and 9, 10 and 7
 * const weight = quantizedTensor(backend, { shape: [2, 2], dtype: 'u4', block: 2, data, scales: [1, 0.5] });
 * await linear(tensor(backend, [[1, 10]]), weight).toArray(); // [10, -4]
 * ```
 */
export function quantizedTensor(backend: ComputeBackend, options: QuantizedTensorOptions): QuantizedTensor {
  const op = 'quantizedTensor';
  checkBackend(op, backend);
  checkOptions(op, options, KINDS);
  const { shape, dtype } = options;
  if (!DTYPES.includes(dtype)) throw refuse(op, `dtype must be one of ${DTYPES.join(', ')}, got ${shown(dtype)}`);
  const [n, k] = checkShape(op, shape);
  if (n === undefined || k === undefined || shape.length !== 2) {
    throw refuse(op, `shape must be [n, k], got ${shapeText(shape)}`);
  }
  return ofRows(op, backend, { ...options, shape: [n, k] }, isNibbles(dtype) ? Math.ceil(k / 2) : k);
}

/**
 * Returns the weight of a com.microsoft MatMulNBits node of ONNX, whose codes are unsigned: {@link linear} with it
 * computes the node, with its bias and what follows.
 *
 * @throws {BackendError} INVALID_ARGUMENT for bits other than 4 and 8, a block that does not fill bytes, arrays of other lengths
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const node = { n: 2, k: 2, blockSize: 2, b: new Uint8Array([0x98, 0x7a]), scales: [1, 0.5] };
 * await linear(tensor(backend, [[1, 10]]), fromMatMulNBits(backend, node)).toArray(); // [10, -4]
 * ```
 */
export function fromMatMulNBits(backend: ComputeBackend, options: MatMulNBitsOptions): QuantizedTensor {
  const op = 'fromMatMulNBits';
  checkBackend(op, backend);
  checkOptions(op, options, NODE_KINDS);
  const { n, k, bits = 4, blockSize: block, b: data, zeroPoints: zeros, scales, dtypeScales } = options;
  if (bits !== 4 && bits !== 8) throw refuse(op, `bits must be 4 or 8, got ${shown(bits)}`);
  checkShape(op, [n, k]);
  if (!Number.isInteger((block * bits) / 8)) throw refuse(op, `blockSize must fill bytes, got ${shown(block)}`);
  const dtype = bits === 4 ? 'u4' : 'u8';
  // The last block of a row is stored whole.
  const rowBytes = (Math.ceil(k / block) * block * bits) / 8;
  return ofRows(op, backend, { shape: [n, k], dtype, block, data, scales, zeros, dtypeScales }, rowBytes);
}

type Rows = Omit<QuantizedTensorOptions, 'shape'> & { readonly shape: readonly [number, number] };

/** @param rowBytes - from one row of the data to the next */
function ofRows(op: string, backend: ComputeBackend, given: Rows, rowBytes: number): QuantizedTensor {
  const { shape, dtype, block, data, scales, zeros, offsets, dtypeScales = 'f32' } = given;
  const [n, k] = shape;
  if (!Number.isSafeInteger(block) || block < 1) throw refuse(op, `a block is 1 element or more, got ${shown(block)}`);
  if (!FLOATS.includes(dtypeScales)) throw refuse(op, `dtypeScales must be f32 or f16, got ${shown(dtypeScales)}`);
  if (zeros !== undefined && offsets !== undefined) throw refuse(op, 'takes zeros or offsets, not both');
  const blocks = Math.ceil(k / block);
  const stored = dtype === 'i8' ? 'i8' : 'u8';
  const zeroBytes = isNibbles(dtype) ? Math.ceil(blocks / 2) : blocks;
  const check = (name: string, array: HostFloats | HostBytes, columns: number): void => {
    if (array.length === n * columns) return;
    throw refuse(
      op,
      `${name} must be ${shapeText([n, columns])} for ${dtype}${shapeText(shape)} in blocks of ${block}, got ${array.length}`,
    );
  };
  const bytes = (name: string, array: unknown, columns: number): Tensor => {
    if (!isBytes(array)) throw refuse(op, `${name} must be bytes in a Uint8Array or Int8Array, got ${shown(array)}`);
    check(name, array, columns);
    const Stored = stored === 'i8' ? Int8Array : Uint8Array;
    return tensor(backend, new Stored(array.buffer as ArrayBuffer, array.byteOffset, array.length), [n, columns]);
  };
  const floats = (name: string, array: unknown): Tensor => {
    const isList = Array.isArray(array) || tagOf(array) === 'Float32Array';
    if (!isList) throw refuse(op, `${name} must be numbers or a Float32Array, got ${shown(array)}`);
    check(name, array as HostFloats, blocks);
    return tensor(backend, array as HostFloats, [n, blocks], { dtype: dtypeScales });
  };
  // Where a later part fails those before it do not remain.
  return tidy(() => {
    const parts: QuantizedParts = {
      data: bytes('data', data, rowBytes),
      scales: floats('scales', scales),
      ...(isBytes(zeros) && { zeros: bytes('zeros', zeros, zeroBytes) }),
      ...(zeros !== undefined && !isBytes(zeros) && { zeros: floats('zeros', zeros) }),
      ...(offsets !== undefined && { offsets: floats('offsets', offsets) }),
    };
    return new QuantizedTensor({ shape, dtype, block }, parts);
  });
}

/** The class of a typed array, also of another realm. */
export function tagOf(value: unknown): string | undefined {
  return ArrayBuffer.isView(value) ? (value as Uint8Array)[Symbol.toStringTag] : undefined;
}

function isBytes(value: unknown): value is HostBytes {
  return tagOf(value) === 'Uint8Array' || tagOf(value) === 'Int8Array';
}
