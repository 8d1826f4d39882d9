import { dequantize, empty, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const BYTES = numbers(4 * 6).map((x) => Math.floor((x + 2) * 64));
const SIGNED = BYTES.map((byte) => (byte << 24) >> 24);
const NIBBLES = BYTES.flatMap((byte) => [byte & 15, byte >> 4]);
const SIGNED_NIBBLES = NIBBLES.map((nibble) => (nibble > 7 ? nibble - 16 : nibble));
const SCALES = numbers(48, 2);
const scale = (place: number): number => SCALES[place] as number;

/** 8 and 4 bits, one scale, one for each place of an axis, one for each block; zero points; views. */
export const dequantizeCases: OpCases = {
  '8 bits, one scale: a number, a tensor; zero points alike': {
    run: (backend) => {
      const [u8, i8] = [tensor(backend, new Uint8Array(BYTES)), tensor(backend, new Int8Array(SIGNED))];
      const zeroPoint = tensor(backend, 100, [], { dtype: 'u8' });
      return [dequantize(i8, 0.5, { zeroPoint: -3 }), dequantize(u8, tensor(backend, 0.25), { zeroPoint })];
    },
    want: [SIGNED.map((x) => (x + 3) * 0.5), BYTES.map((x) => (x - 100) * 0.25)],
    shape: [24],
    tolerance: 0,
  },
  '8 bits, scales of each axis, of a transposed view, into out': {
    run: (backend) => {
      const x = tensor(backend, new Uint8Array(BYTES), [4, 6]);
      const [rows, columns] = [tensor(backend, SCALES.slice(0, 4)), tensor(backend, SCALES.slice(0, 6))];
      const zeroPoint = tensor(backend, new Uint8Array(BYTES.slice(0, 6)));
      return [
        dequantize(x, columns, { zeroPoint }),
        transpose(dequantize(transpose(x), rows, { out: empty(backend, [6, 4]) })),
      ];
    },
    want: [
      BYTES.map((x, i) => (x - (BYTES[i % 6] as number)) * scale(i % 6)),
      BYTES.map((x, i) => x * scale(Math.floor(i / 6))),
    ],
    shape: [4, 6],
  },
  '8 bits in blocks along the first axis and the last': {
    run: (backend) => {
      const x = tensor(backend, new Int8Array(SIGNED), [4, 6]);
      return [
        dequantize(x, tensor(backend, SCALES.slice(0, 12), [2, 6]), { axis: 0, blockSize: 2 }),
        dequantize(x, tensor(backend, SCALES.slice(0, 8), [4, 2]), { axis: -1, blockSize: 3 }),
      ];
    },
    want: [
      SIGNED.map((x, i) => x * scale(Math.floor(i / 12) * 6 + (i % 6))),
      SIGNED.map((x, i) => x * scale(Math.floor(i / 3))),
    ],
  },
  '4 bits, the low nibble first, with and without a sign': {
    run: (backend) => [
      dequantize(tensor(backend, new Uint8Array(BYTES), [4, 6]), 0.5, { bits: 4, zeroPoint: 8 }),
      dequantize(tensor(backend, new Int8Array(SIGNED), [4, 6]), tensor(backend, [2]), { bits: 4 }),
    ],
    want: [NIBBLES.map((x) => (x - 8) * 0.5), SIGNED_NIBBLES.map((x) => x * 2)],
    shape: [4, 12],
    tolerance: 0,
  },
  '4 bits, scales of each column, f16, and of a transposed view': {
    run: (backend) => {
      const x = tensor(backend, new Uint8Array(BYTES), [4, 6]);
      const columns = tensor(backend, SCALES.slice(0, 12), [12], { dtype: 'f16' });
      return [
        dequantize(x, columns, { bits: 4 }),
        dequantize(transpose(x), tensor(backend, SCALES.slice(0, 8)), { bits: 4 }),
      ];
    },
    want: [
      NIBBLES.map((x, i) => x * scale(i % 12)),
      Array.from({ length: 48 }, (_, i) => {
        const [row, column] = [Math.floor(i / 8), i % 8];
        return (NIBBLES[(Math.floor(column / 2) * 6 + row) * 2 + (column % 2)] as number) * scale(column);
      }),
    ],
    tolerance: 2 ** -10,
  },
  // As weights of language models are stored: blocks of one row share a scale and a zero point.
  '4 bits in blocks along the last axis and the first': {
    run: (backend) => {
      const x = tensor(backend, new Uint8Array(BYTES), [4, 6]);
      const zeroPoint = tensor(backend, new Uint8Array(NIBBLES.slice(0, 12)), [4, 3]);
      return [
        dequantize(x, tensor(backend, SCALES.slice(0, 12), [4, 3]), { bits: 4, blockSize: 4, zeroPoint }),
        dequantize(x, tensor(backend, SCALES.slice(0, 24), [2, 12]), { bits: 4, blockSize: 2, axis: 0 }),
      ];
    },
    want: [
      NIBBLES.map((x, i) => (x - (NIBBLES[Math.floor(i / 4)] as number)) * scale(Math.floor(i / 4))),
      NIBBLES.map((x, i) => x * scale(Math.floor(i / 24) * 12 + (i % 12))),
    ],
    shape: [4, 12],
  },
  nothing: {
    run: (backend) => dequantize(tensor(backend, new Uint8Array(0), [3, 0]), 1, { bits: 4 }),
    want: [],
    shape: [3, 0],
  },
};
