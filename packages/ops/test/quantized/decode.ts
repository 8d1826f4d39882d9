import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { GgufType } from '../../src/index.ts';
import { numbers } from '../support/numbers.ts';

/** The numbers of a weight in float64, row by row, and what scales their error. */
export interface Decoded {
  readonly value: number[];
  readonly magnitude: number[];
}

/** Bytes that look random. */
export function randomBytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from(numbers(length, seed), (x) => Math.floor((x + 2) * 64));
}

const half = (bytes: Uint8Array, at: number): number =>
  f16BitsToF32(new DataView(bytes.buffer, bytes.byteOffset).getUint16(at, true));

/** A number that is added to nothing, or a product and what is added to it. */
function push({ value, magnitude }: Decoded, product: number, added = 0): void {
  value.push(product + added);
  magnitude.push(Math.abs(product) + Math.abs(added));
}

interface Definition {
  readonly bytes: number;
  readonly elements: number;
  /** Places of numbers in f16. */
  readonly halves: readonly number[];
  readonly decode: (block: Uint8Array, into: Decoded) => void;
}

/** The blocks as ggml-common.h has them, by the loops of ggml's dequantize_row functions. */
const DEFINITIONS: Readonly<Record<GgufType, Definition>> = {
  // { half d; int8 qs[32] }
  q8_0: {
    ...{ bytes: 34, elements: 32, halves: [0] },
    decode(block, into) {
      for (const q of new Int8Array(block.slice(2).buffer)) push(into, q * half(block, 0));
    },
  },
  // { half d; uint8 qs[16] }
  q4_0: {
    ...{ bytes: 18, elements: 32, halves: [0] },
    decode(block, into) {
      const qs = block.slice(2);
      for (const q of qs) push(into, ((q & 0x0f) - 8) * half(block, 0));
      for (const q of qs) push(into, ((q >> 4) - 8) * half(block, 0));
    },
  },
  // { half d; half m; uint8 qs[16] }
  q4_1: {
    ...{ bytes: 20, elements: 32, halves: [0, 2] },
    decode(block, into) {
      const qs = block.slice(4);
      for (const q of qs) push(into, (q & 0x0f) * half(block, 0), half(block, 2));
      for (const q of qs) push(into, (q >> 4) * half(block, 0), half(block, 2));
    },
  },
  // { half d; half dmin; uint8 scales[12]; uint8 qs[128] }
  q4_K: {
    ...{ bytes: 144, elements: 256, halves: [0, 2] },
    decode(block, into) {
      const [d, dmin, scales, qs] = [half(block, 0), half(block, 2), block.slice(4, 16), block.slice(16)];
      const at = (j: number): number => scales[j] as number;
      for (let j = 0; j < 8; j++) {
        const scale = j < 4 ? at(j) & 63 : (at(j + 4) & 0x0f) | ((at(j - 4) >> 6) << 4);
        const min = j < 4 ? at(j + 4) & 63 : (at(j + 4) >> 4) | ((at(j) >> 6) << 4);
        for (const both of qs.slice(32 * (j >> 1), 32 * (j >> 1) + 32)) {
          push(into, d * scale * (j % 2 === 0 ? both & 0x0f : both >> 4), -dmin * min);
        }
      }
    },
  },
  // { uint8 ql[128]; uint8 qh[64]; int8 scales[16]; half d }
  q6_K: {
    ...{ bytes: 210, elements: 256, halves: [208] },
    decode(block, into) {
      const scales = new Int8Array(block.slice(192, 208).buffer);
      for (const part of [0, 1]) {
        const ql = block.slice(64 * part, 64 * part + 64);
        const qh = block.slice(128 + 32 * part, 160 + 32 * part);
        const quarter = (index: number, low: (l: number) => number): void => {
          for (let l = 0; l < 32; l++) {
            const q = (low(l) | ((((qh[l] as number) >> (2 * index)) & 3) << 4)) - 32;
            push(into, half(block, 208) * (scales[8 * part + 2 * index + Math.floor(l / 16)] as number) * q);
          }
        };
        quarter(0, (l) => (ql[l] as number) & 0x0f);
        quarter(1, (l) => (ql[l + 32] as number) & 0x0f);
        quarter(2, (l) => (ql[l] as number) >> 4);
        quarter(3, (l) => (ql[l + 32] as number) >> 4);
      }
    },
  },
};

/** Blocks with random bits, and scales that are numbers. */
export function ggufBlocks(type: GgufType, elements: number): Uint8Array {
  const { bytes, elements: perBlock, halves } = DEFINITIONS[type];
  const blocks = randomBytes((elements / perBlock) * bytes, 3);
  const view = new DataView(blocks.buffer);
  const scales = numbers(blocks.length, 5);
  for (let at = 0; at < blocks.length; at += bytes) {
    for (const place of halves) view.setUint16(at + place, f32ToF16Bits(scales[at + place] as number), true);
  }
  return blocks;
}

/** The numbers of blocks of a GGUF file. */
export function decodeGguf(type: GgufType, blocks: Uint8Array): Decoded {
  const into: Decoded = { value: [], magnitude: [] };
  const { bytes, decode } = DEFINITIONS[type];
  for (let at = 0; at < blocks.length; at += bytes) decode(blocks.slice(at, at + bytes), into);
  return into;
}

/** Elements of rows by their definition: `integer`, `zero`, `scale` and `offset` give one, by row and column or by row and block. */
export function decodeRows(
  [n, k]: readonly [number, number],
  block: number,
  parts: Readonly<Record<'q' | 'zero' | 'scale' | 'offset', (row: number, place: number) => number>>,
): Decoded {
  const into: Decoded = { value: [], magnitude: [] };
  for (let row = 0; row < n; row++) {
    for (let p = 0; p < k; p++) {
      const of = Math.floor(p / block);
      push(into, (parts.q(row, p) - parts.zero(row, of)) * parts.scale(row, of), parts.offset(row, of));
    }
  }
  return into;
}

/** The integer at a place of packed ones. */
export function integerAt(dtype: string, bytes: Uint8Array, rowBytes: number, row: number, place: number): number {
  if (dtype === 'u8' || dtype === 'i8') {
    const byte = bytes[row * rowBytes + place] as number;
    return dtype === 'i8' && byte > 127 ? byte - 256 : byte;
  }
  const nibble = ((bytes[row * rowBytes + Math.floor(place / 2)] as number) >> (place % 2 === 0 ? 0 : 4)) & 15;
  return dtype === 'i4' && nibble > 7 ? nibble - 16 : nibble;
}
