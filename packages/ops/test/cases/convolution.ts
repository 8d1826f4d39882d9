import { cast, conv1d, conv2d, convTranspose1d, convTranspose2d, empty, permute } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { convolve, convolveTransposed } from '../support/convolve.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 4 * 5 * 6, 31);
const W = numbers(6 * 4 * 3 * 2, 32);
const BIAS = numbers(6, 33);
const X_SHAPE = [2, 4, 5, 6] as const;
const W_SHAPE = [6, 4, 3, 2] as const;
const plain = convolve({ x: X, xShape: X_SHAPE, w: W, wShape: W_SHAPE });
const biased = (values: readonly number[], perImage: number): number[] =>
  values.map((value, i) => value + (BIAS[Math.floor(i / perImage) % 6] as number));
const count = (length: number): number[] => Array.from({ length }, (_, i) => i);
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** Convolutions by their definition, and the results that ONNX publishes for Conv. */
export const convolutionCases: OpCases = {
  'conv2d of ONNX with padding': {
    run: (b) =>
      conv2d(tensor(b, count(25), [1, 1, 5, 5]), tensor(b, new Float32Array(9).fill(1), [1, 1, 3, 3]), { padding: 1 }),
    want: [
      [12, 21, 27, 33, 24],
      [33, 54, 63, 72, 51],
      [63, 99, 108, 117, 81],
      [93, 144, 153, 162, 111],
      [72, 111, 117, 123, 84],
    ].flat(),
    shape: [1, 1, 5, 5],
  },
  'conv2d of ONNX with strides and padding of one axis': {
    run: (b) =>
      conv2d(tensor(b, count(35), [1, 1, 7, 5]), tensor(b, new Float32Array(9).fill(1), [1, 1, 3, 3]), {
        stride: 2,
        padding: [1, 0, 1, 0],
      }),
    want: [21, 33, 99, 117, 189, 207, 171, 183],
    shape: [1, 1, 4, 2],
  },
  'conv2d and its transposition by filters in f16 and bf16': {
    run: (b) => {
      const [x, w] = [tensor(b, count(25), [1, 1, 5, 5]), tensor(b, new Float32Array(9).fill(1), [1, 1, 3, 3])];
      return [conv2d(x, cast(w, 'f16'), { bias: tensor(b, [1]) }), convTranspose2d(x, cast(w, 'bf16'), { padding: 2 })];
    },
    want: [0, 1].map((transposed) => [54, 63, 72, 99, 108, 117, 144, 153, 162].map((sum) => sum + 1 - transposed)),
    shape: [1, 1, 3, 3],
  },
  'conv2d of a tensor by itself': {
    run: (b) => {
      const x = tensor(b, [1, 2, 3, 4], [1, 1, 2, 2]);
      return conv2d(x, x);
    },
    want: [30],
    shape: [1, 1, 1, 1],
  },
  'conv2d with bias, activation and residual': {
    run: (b) =>
      conv2d(tensor(b, X, X_SHAPE), tensor(b, W, W_SHAPE), {
        bias: tensor(b, BIAS),
        activation: 'sigmoid',
        residual: tensor(b, [1, 2, 3], [3, 1]),
      }),
    want: biased(plain.values, 15).map((value, i) => sigmoid(value) + 1 + (Math.floor(i / 5) % 3)),
    shape: plain.shape,
  },
  'conv2d of views into its residual': {
    run: (b) => {
      const x = permute(tensor(b, X, [6, 2, 4, 5]), [1, 2, 3, 0]);
      const out = tensor(b, new Float32Array(2 * 6 * 3 * 5).fill(2), [2, 6, 3, 5]);
      return conv2d(x, tensor(b, W, W_SHAPE), { residual: out, out });
    },
    want: convolve({
      ...{ xShape: X_SHAPE, w: W, wShape: W_SHAPE },
      x: count(240).map((i) => X[(i % 6) * 40 + Math.floor(i / 6)] as number),
    }).values.map((value) => value + 2),
  },
  'conv2d with groups, padding same and unequal strides, into a view': {
    run: (b) =>
      conv2d(tensor(b, X, X_SHAPE), tensor(b, W.slice(0, 72), [6, 2, 3, 2]), {
        ...{ groups: 2, padding: 'same', stride: [2, 1], dilation: [1, 2] },
        out: permute(empty(b, [6, 6, 3, 2]), [3, 1, 2, 0]),
      }),
    want: convolve({
      ...{ x: X, xShape: X_SHAPE, w: W.slice(0, 72), wShape: [6, 2, 3, 2] },
      ...{ groups: 2, padding: [1, 1, 1, 1], stride: [2, 1], dilation: [1, 2] },
    }).values,
    shape: [2, 6, 3, 6],
  },
  'conv2d with an odd padding same: more at the bottom and right': {
    run: (b) => conv2d(tensor(b, X, X_SHAPE), tensor(b, W.slice(0, 64), [4, 4, 2, 2]), { padding: 'same' }),
    want: convolve({ x: X, xShape: X_SHAPE, w: W.slice(0, 64), wShape: [4, 4, 2, 2], padding: [0, 0, 1, 1] }).values,
    shape: [2, 4, 5, 6],
  },
  'conv2d in half precision with bias and relu': {
    run: (b) => {
      const half = (values: readonly number[], shape: readonly number[]) =>
        tensor(b, Float32Array.from(values), shape, { dtype: 'f16' });
      return conv2d(half(X, X_SHAPE), half(W, W_SHAPE), { bias: half(BIAS, [6]), activation: 'relu' });
    },
    want: biased(plain.values, 15).map((value) => Math.max(0, value)),
    tolerance: 2e-3,
  },
  'conv1d, depthwise and causal, with bias and residual': {
    run: (b) =>
      conv1d(tensor(b, X.slice(0, 60), [2, 6, 5]), tensor(b, W.slice(0, 18), [6, 1, 3]), {
        ...{ groups: 6, padding: [4, 0], dilation: 2, bias: tensor(b, BIAS), residual: tensor(b, [1, 2, 3, 4, 5]) },
      }),
    want: biased(
      convolve({
        ...{ x: X.slice(0, 60), xShape: [2, 6, 1, 5], w: W.slice(0, 18), wShape: [6, 1, 1, 3] },
        ...{ groups: 6, padding: [0, 4, 0, 0], dilation: [1, 2] },
      }).values,
      5,
    ).map((value, i) => value + (i % 5) + 1),
    shape: [2, 6, 5],
  },
  'conv1d with strides, into a view; of no images': {
    run: (b) => {
      const w = tensor(b, W.slice(0, 24), [2, 6, 2]);
      const out = permute(empty(b, [2, 2, 2]), [2, 1, 0]);
      return [conv1d(tensor(b, X.slice(0, 60), [2, 6, 5]), w, { stride: 2, out }), conv1d(tensor(b, [], [0, 6, 5]), w)];
    },
    want: [
      convolve({
        ...{ x: X.slice(0, 60), xShape: [2, 6, 1, 5], w: W.slice(0, 24), wShape: [2, 6, 1, 2], stride: [1, 2] },
      }).values,
      [],
    ],
    shape: [2, 2, 2],
  },
  'convTranspose2d of ONNX with strides and output padding': {
    run: (b) =>
      convTranspose2d(tensor(b, count(9), [1, 1, 3, 3]), tensor(b, new Float32Array(9).fill(1), [1, 1, 3, 3]), {
        ...{ stride: [3, 2], outputPadding: 1 },
      }),
    want: [
      ...[0, 1, 2].flatMap((row) => {
        const [a, b, c] = [3 * row, 3 * row + 1, 3 * row + 2];
        return [0, 1, 2].flatMap(() => [a, a, a + b, b, b + c, c, c, 0]);
      }),
      ...[0, 0, 0, 0, 0, 0, 0, 0],
    ],
    shape: [1, 1, 10, 8],
  },
  'convTranspose2d with groups, dilation, unequal sides, bias, activation and residual': {
    run: (b) =>
      convTranspose2d(tensor(b, X, X_SHAPE), tensor(b, W.slice(0, 72), [4, 3, 3, 2]), {
        ...{ groups: 2, stride: [2, 3], dilation: [3, 2], padding: [1, 0, 2, 3], outputPadding: [2, 1] },
        ...{ bias: tensor(b, BIAS), activation: 'sigmoid', residual: tensor(b, [1]) },
      }),
    ...(() => {
      const { values, shape } = convolveTransposed({
        ...{ x: X, xShape: X_SHAPE, w: W.slice(0, 72), wShape: [4, 3, 3, 2], groups: 2 },
        ...{ stride: [2, 3], dilation: [3, 2], padding: [1, 0, 2, 3], outputPadding: [2, 1] },
      });
      const perImage = (shape[2] as number) * (shape[3] as number);
      return { want: biased(values, perImage).map((value) => sigmoid(value) + 1), shape };
    })(),
  },
  'convTranspose2d of views, depthwise, into a view, in half precision': {
    run: (b) => {
      const x = permute(tensor(b, X, [6, 2, 4, 5], { dtype: 'f16' }), [1, 2, 3, 0]);
      const w = tensor(b, W.slice(0, 64), [4, 1, 4, 4], { dtype: 'f16' });
      const out = permute(empty(b, [12, 10, 4, 2], { dtype: 'f16' }), [3, 2, 1, 0]);
      return convTranspose2d(x, w, { groups: 4, stride: 2, padding: 1, out });
    },
    want: convolveTransposed({
      ...{ x: count(240).map((i) => X[(i % 6) * 40 + Math.floor(i / 6)] as number), xShape: X_SHAPE },
      ...{ w: W.slice(0, 64), wShape: [4, 1, 4, 4], groups: 4, stride: [2, 2], padding: [1, 1, 1, 1] },
    }).values,
    shape: [2, 4, 10, 12],
    tolerance: 4e-3,
  },
  'convTranspose1d with residual, and of no images': {
    run: (b) => {
      const w = tensor(b, W.slice(0, 36), [6, 2, 3]);
      const residual = tensor(b, [1, 2], [2, 1]);
      const options = { stride: 2, padding: [1, 0], outputPadding: 1, dilation: 2 } as const;
      return [
        convTranspose1d(tensor(b, X.slice(0, 60), [2, 6, 5]), w, { ...options, residual }),
        convTranspose1d(tensor(b, [], [0, 6, 5]), w, options),
      ];
    },
    want: [
      convolveTransposed({
        ...{ x: X.slice(0, 60), xShape: [2, 6, 1, 5], w: W.slice(0, 36), wShape: [6, 2, 1, 3] },
        ...{ stride: [1, 2], dilation: [1, 2], padding: [0, 1, 0, 0], outputPadding: [0, 1] },
      }).values.map((value, i) => value + 1 + (Math.floor(i / 13) % 2)),
      [],
    ],
    shape: [2, 2, 13],
  },
};
