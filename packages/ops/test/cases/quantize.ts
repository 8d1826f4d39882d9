import { dequantize, empty, permute, quantize, slice, viewAs } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(4 * 6, 81).map((x) => Math.fround(100 * x));
const SCALES = numbers(24, 82).map((x) => Math.fround(Math.abs(x) + 0.1));
/** Of i8 and u8, with their neighbours. */
const EDGES = [
  -Infinity,
  -1e30,
  -128.6,
  -128.5,
  -2.5,
  -1.5,
  -0.5,
  -0,
  0.5,
  1.5,
  2.5,
  254.5,
  255.5,
  1e30,
  Infinity,
  NaN,
];
const even = (x: number): number => (Math.abs(x % 1) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x));
function quantized(x: number, scale: number, zeroPoint = 0, [low, high] = [0, 255]): number {
  const y = even(Math.fround(x / scale)) + zeroPoint;
  return Number.isNaN(y) ? 0 : Math.min(high, Math.max(low, y));
}
/** Decimals that float32 does not have, whose quotients lie at a half or next to it. */
const DECIMALS = Array.from({ length: 200 }, (_, i) => Math.fround((i - 100) * 0.05));
const TENTHS = [0.1, 0.3, 0.7, 0.01].map(Math.fround);

/** QuantizeLinear of ONNX by its definition: ties, saturation, quotients rounded as float32, axes, blocks. */
export const quantizeCases: OpCases = {
  'ties and ends of u8 and i8': {
    run: (b) => {
      const x = tensor(b, EDGES);
      return [
        quantize(x, 1),
        quantize(x, 1, { dtype: 'i8' }),
        quantize(x, tensor(b, 0.5), { zeroPoint: tensor(b, new Int8Array([-3]), []) }),
        quantize(tensor(b, [1, -1, 0]), 0),
      ];
    },
    want: [
      EDGES.map((x) => quantized(x, 1)),
      EDGES.map((x) => quantized(x, 1, 0, [-128, 127])),
      EDGES.map((x) => quantized(x, 0.5, -3, [-128, 127])),
      [255, 0, 0],
    ],
    shape: [16],
    tolerance: 0,
  },
  'quotients at a half in float32, where a division that is a little off gives another integer': {
    run: (b) => TENTHS.map((scale) => quantize(tensor(b, DECIMALS), tensor(b, scale), { zeroPoint: 128 })),
    want: TENTHS.map((scale) => DECIMALS.map((x) => quantized(x, scale, 128))),
    tolerance: 0,
  },
  'scales and zero points of an axis, of a permuted view, f16, into out; the way back': {
    run: (b) => {
      const x = tensor(b, X, [4, 6]);
      const [rows, columns] = [tensor(b, SCALES.slice(0, 4)), tensor(b, SCALES.slice(0, 6))];
      const zeroPoint = tensor(b, new Uint8Array([1, 2, 3, 4, 5, 128]));
      const y = quantize(x, columns, { zeroPoint });
      return [
        y,
        permute(quantize(permute(x, [1, 0]), rows, { out: empty(b, [6, 4], { dtype: 'i8' }), dtype: 'i8' }), [1, 0]),
        dequantize(y, columns, { zeroPoint }),
        quantize(tensor(b, Float32Array.of(1, 2.5, 3), [3], { dtype: 'f16' }), tensor(b, 1)),
      ];
    },
    want: [
      X.map((x, i) => quantized(x, SCALES[i % 6] as number, [1, 2, 3, 4, 5, 128][i % 6])),
      X.map((x, i) => quantized(x, SCALES[Math.floor(i / 6)] as number, 0, [-128, 127])),
      X.map((x, i) => {
        const [scale, zero] = [SCALES[i % 6] as number, [1, 2, 3, 4, 5, 128][i % 6] as number];
        return Math.fround((quantized(x, scale, zero) - zero) * scale);
      }),
      [1, 2, 3],
    ],
    shape: [4, 6],
    tolerance: 1e-6,
  },
  'blocks along the first axis': {
    run: (b) =>
      quantize(tensor(b, X, [4, 6]), tensor(b, SCALES.slice(0, 12), [2, 6]), { axis: 0, blockSize: 2, dtype: 'i8' }),
    want: X.map((x, i) => quantized(x, SCALES[Math.floor(i / 12) * 6 + (i % 6)] as number, 0, [-128, 127])),
    tolerance: 0,
  },
  'the same bytes as another type, of a part of a view, written through the view': {
    run: (b) => {
      const x = tensor(b, [9, 1, -2, 0.5], [2, 2]);
      const halves = tensor(b, Float32Array.of(1, -2), [2], { dtype: 'f16' });
      const bytes = tensor(b, new Int8Array([-1, 5]));
      return [
        viewAs(slice(permute(x, [1, 0]), [1]), 'u32'),
        viewAs(viewAs(x, 'i32'), 'f32'),
        viewAs(halves, 'bf16'),
        viewAs(bytes, 'u8'),
      ];
    },
    want: [
      [0x3f800000, 0x3f000000],
      [9, 1, -2, 0.5],
      [2 ** -7, -2],
      [255, 5],
    ],
    tolerance: 0,
  },
};
