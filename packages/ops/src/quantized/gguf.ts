import { type ComputeBackend, f16BitsToF32, type FloatDType } from '@concord/backend-core';
import { checkBackend, checkOptions, shown } from '../tensor/arguments.ts';
import { checkShape } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { quantizedTensor, tagOf } from './create-quantized.ts';
import type { QuantizedTensor } from './quantized-tensor.ts';

/** Types of GGUF tensors that {@link fromGguf} reads. */
export type GgufType = 'q8_0' | 'q4_0' | 'q4_1' | 'q4_K' | 'q6_K';

/** Options of {@link fromGguf}. */
export interface GgufOptions {
  readonly type: GgufType;
  /** `[n, k]`. GGUF lists the sizes the other way round, k first. */
  readonly shape: readonly number[];
  /** The blocks, row by row, as they are in the file. */
  readonly bytes: Uint8Array;
}

/** Integers, scales and offsets of one stored block. */
interface Unpacked {
  readonly q: Int8Array;
  readonly scales: Float32Array;
  readonly offsets: Float32Array;
}

/** A block as ggml stores it, and the type that holds the same numbers. */
interface Format {
  readonly elements: number;
  readonly bytes: number;
  readonly dtype: 'i8' | 'u4';
  readonly block: number;
  readonly dtypeScales: FloatDType;
  readonly hasOffsets?: boolean;
  /** Unpacks the block that begins at a byte. */
  readonly unpack: (bytes: Uint8Array, at: number, into: Unpacked) => void;
}

const byte = (bytes: Uint8Array, at: number): number => bytes[at] as number;
const half = (bytes: Uint8Array, at: number): number => f16BitsToF32(byte(bytes, at) | (byte(bytes, at + 1) << 8));

/** The low halves of bytes, then their high halves. */
function unpackHalves(bytes: Uint8Array, at: number, count: number, q: Int8Array, first: number): void {
  for (let each = 0; each < count; each++) {
    const both = byte(bytes, at + each);
    q[first + each] = both & 15;
    q[first + count + each] = both >> 4;
  }
}

const FORMATS: Readonly<Record<GgufType, Format>> = {
  q8_0: {
    ...{ elements: 32, bytes: 34, dtype: 'i8', block: 32, dtypeScales: 'f16' },
    unpack(bytes, at, { q, scales }) {
      scales[0] = half(bytes, at);
      for (let each = 0; each < 32; each++) q[each] = byte(bytes, at + 2 + each);
    },
  },
  q4_0: {
    ...{ elements: 32, bytes: 18, dtype: 'u4', block: 32, dtypeScales: 'f16' },
    unpack(bytes, at, { q, scales }) {
      scales[0] = half(bytes, at);
      unpackHalves(bytes, at + 2, 16, q, 0);
    },
  },
  q4_1: {
    ...{ elements: 32, bytes: 20, dtype: 'u4', block: 32, dtypeScales: 'f16', hasOffsets: true },
    unpack(bytes, at, { q, scales, offsets }) {
      scales[0] = half(bytes, at);
      offsets[0] = half(bytes, at + 2);
      unpackHalves(bytes, at + 4, 16, q, 0);
    },
  },
  q4_K: {
    ...{ elements: 256, bytes: 144, dtype: 'u4', block: 32, dtypeScales: 'f32', hasOffsets: true },
    unpack(bytes, at, { q, scales, offsets }) {
      const [scale, min] = [half(bytes, at), half(bytes, at + 2)];
      const six = at + 4;
      for (let each = 0; each < 4; each++) {
        // Of eight scales and eight minima of 6 bits, the first four of each are low in a byte, whose upper 2 bits are the upper
        // ones of the last four.
        const [a, b, low] = [byte(bytes, six + each), byte(bytes, six + 4 + each), byte(bytes, six + 8 + each)];
        scales[each] = scale * (a & 63);
        offsets[each] = -min * (b & 63);
        scales[4 + each] = scale * ((low & 15) | ((a >> 6) << 4));
        offsets[4 + each] = -min * ((low >> 4) | ((b >> 6) << 4));
        unpackHalves(bytes, at + 16 + 32 * each, 32, q, 64 * each);
      }
    },
  },
  q6_K: {
    ...{ elements: 256, bytes: 210, dtype: 'i8', block: 16, dtypeScales: 'f32' },
    unpack(bytes, at, { q, scales }) {
      const scale = half(bytes, at + 208);
      for (let each = 0; each < 16; each++) scales[each] = scale * ((byte(bytes, at + 192 + each) << 24) >> 24);
      for (let each = 0; each < 256; each++) {
        // Each half of the block: 64 bytes have the low 4 bits of the first 64 elements, then of the others; 32 bytes the upper 2 of
        // all, those of every 32nd element in one byte.
        const [part, inPart] = [each >> 7, each & 127];
        const low = byte(bytes, at + 64 * part + (inPart & 63)) >> (4 * (inPart >> 6));
        const high = byte(bytes, at + 128 + 32 * part + (inPart & 31)) >> (2 * (inPart >> 5));
        q[each] = ((low & 15) | ((high & 3) << 4)) - 32;
      }
    },
  },
};
const TYPES = Object.keys(FORMATS);

/**
 * A weight of a GGUF file, repacked on the host; its numbers are exactly those of the file. Bits an element: `q4_0` 4.5 and `q8_0` 8.5
 * as stored, `q4_1` 5 as stored, `q4_K` 6 instead of 4.5 and `q6_K` 10 instead of 6.6, their scales of scales multiplied out to f32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for other types, rows that are not whole blocks (of 32 elements, 256 for `q4_K` and `q6_K`),
 *   and bytes that are more or fewer
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const bytes = new Uint8Array(34).fill(2, 2); // 32 times 2, after their scale: 1 in f16
 * bytes[1] = 0x3c;
 * const weight = fromGguf(backend, { type: 'q8_0', shape: [1, 32], bytes });
 * await linear(ones(backend, [1, 32]), weight).toArray(); // [64]
 * ```
 */
export function fromGguf(backend: ComputeBackend, options: GgufOptions): QuantizedTensor {
  const op = 'fromGguf';
  checkBackend(op, backend);
  checkOptions(op, options, { type: 'any', shape: 'any', bytes: 'any' });
  const { type, bytes } = options;
  if (!TYPES.includes(type)) throw refuse(op, `type must be one of ${TYPES.join(', ')}, got ${shown(type)}`);
  const { elements, dtype, block, dtypeScales, hasOffsets = false, ...format } = FORMATS[type];
  const shape = checkShape(op, options.shape);
  const [n, k] = shape;
  if (n === undefined || k === undefined || shape.length !== 2 || k % elements !== 0) {
    throw refuse(op, `shape of ${type} must be [n, k], k whole blocks of ${elements}, got ${shapeText(shape)}`);
  }
  const count = (n * k) / elements;
  if (tagOf(bytes) !== 'Uint8Array' || bytes.length !== count * format.bytes) {
    throw refuse(
      op,
      `${type}${shapeText(shape)} has ${count * format.bytes} bytes, in a Uint8Array, got ${shown(bytes)}`,
    );
  }
  const perBlock = elements / block;
  const data = new Uint8Array(dtype === 'u4' ? (n * k) / 2 : n * k);
  const scales = new Float32Array(count * perBlock);
  const offsets = hasOffsets ? new Float32Array(count * perBlock) : undefined;
  const one = {
    q: new Int8Array(elements),
    scales: new Float32Array(perBlock),
    offsets: new Float32Array(perBlock),
  };
  for (let index = 0; index < count; index++) {
    format.unpack(bytes, index * format.bytes, one);
    scales.set(one.scales, index * perBlock);
    offsets?.set(one.offsets, index * perBlock);
    if (dtype === 'i8') data.set(one.q, index * elements);
    else packNibbles(one.q, data, (index * elements) / 2);
  }
  return quantizedTensor(backend, { shape, dtype, block, data, scales, offsets, dtypeScales });
}

function packNibbles(q: Int8Array, into: Uint8Array, at: number): void {
  for (let each = 0; each < q.length; each += 2) {
    into[at + each / 2] = (q[each] as number) | ((q[each + 1] as number) << 4);
  }
}
