import { layerNorm, permute, rmsNorm } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { farNumbers, normalized, numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const X = numbers(2 * 3 * 4, 8);
const WEIGHT = numbers(12, 9);
const BIAS = numbers(12, 10);
const FAR = farNumbers(2 ** 20);
const mean = (list: readonly number[]): number => list.reduce((sum, x) => sum + x, 0) / list.length;

function layer(row: readonly number[], weight: (i: number) => number, bias: (i: number) => number): number[] {
  const centre = mean(row);
  const scale = Math.sqrt(mean(row.map((x) => (x - centre) ** 2)) + 1e-5);
  return row.map((x, i) => ((x - centre) / scale) * weight(i) + bias(i));
}

const silu = (x: number): number => x / (1 + Math.exp(-x));
/** Over the axes 2 and 0 of `[2, 3, 4]`, the weight `[4, 2]` in that order. */
const overTwoAxes = X.map((_, at) => {
  const places = X.map((_, i) => i).filter((i) => Math.floor(i / 4) % 3 === Math.floor(at / 4) % 3);
  const weightOf = (i: number): number => WEIGHT[(i % 4) * 2 + Math.floor(i / 12)] as number;
  const row = places.map((i) => X[i] as number);
  return layer(
    row,
    (i) => weightOf(places[i] as number),
    () => 0,
  )[places.indexOf(at)] as number;
});

const rows = (length: number): number[][] =>
  Array.from({ length: X.length / length }, (_, row) => X.slice(row * length, row * length + length));

/** LayerNormalization and RMSNormalization of ONNX, worked out anew. */
export const layerNormCases: OpCases = {
  'layerNorm without weight': {
    run: (b) => layerNorm(tensor(b, X, [2, 3, 4])),
    want: rows(4).flatMap((row) =>
      layer(
        row,
        () => 1,
        () => 0,
      ),
    ),
  },
  'layerNorm of two axes': {
    run: (b) =>
      layerNorm(tensor(b, X, [2, 3, 4]), { axis: 1, weight: tensor(b, WEIGHT, [3, 4]), bias: tensor(b, BIAS, [3, 4]) }),
    want: rows(12).flatMap((row) =>
      layer(
        row,
        (i) => WEIGHT[i] as number,
        (i) => BIAS[i] as number,
      ),
    ),
  },
  'layerNorm of a list of axes, the weight in their order; of none': {
    run: (b) => {
      const x = tensor(b, X, [2, 3, 4]);
      const weight = tensor(b, WEIGHT.slice(0, 8), [4, 2]);
      return [
        layerNorm(x, { axis: [2, 0], weight }),
        layerNorm(x, { axis: [-1, -2], weight: tensor(b, WEIGHT, [4, 3]), bias: tensor(b, 3), activation: 'relu' }),
        layerNorm(x, { axis: [], weight: tensor(b, 2), bias: tensor(b, 5) }),
      ];
    },
    want: [
      overTwoAxes,
      rows(12).flatMap((row) =>
        layer(
          row,
          (i) => WEIGHT[(i % 4) * 3 + Math.floor(i / 4)] as number,
          () => 3,
        ).map((y) => Math.max(0, y)),
      ),
      X.map(() => 5),
    ],
    shape: [2, 3, 4],
  },
  'an activation at the end of both': {
    run: (b) => {
      const x = tensor(b, X, [6, 4]);
      const weight = tensor(b, WEIGHT.slice(0, 4));
      return [
        layerNorm(x, { weight, bias: tensor(b, BIAS.slice(0, 4)), activation: 'silu' }),
        rmsNorm(x, { activation: 'tanh' }),
      ];
    },
    want: [
      rows(4).flatMap((row) =>
        layer(
          row,
          (i) => WEIGHT[i] as number,
          (i) => BIAS[i] as number,
        ).map(silu),
      ),
      rows(4).flatMap((row) => row.map((x) => Math.tanh(x / Math.sqrt(mean(row.map((y) => y * y)) + 1e-5)))),
    ],
  },
  'layerNorm of a permuted view': {
    run: (b) =>
      layerNorm(permute(tensor(b, X.slice(0, 12), [4, 3]), [1, 0]), { weight: tensor(b, WEIGHT.slice(0, 4)) }),
    want: [0, 1, 2].flatMap((j) =>
      layer(
        [0, 1, 2, 3].map((i) => X[i * 3 + j] as number),
        (i) => WEIGHT[i] as number,
        () => 0,
      ),
    ),
  },
  'layerNorm of a million numbers that are far from 0': {
    run: (b) => layerNorm(tensor(b, FAR)),
    want: normalized(FAR),
  },
  rmsNorm: {
    run: (b) => rmsNorm(tensor(b, X, [6, 4]), { weight: tensor(b, WEIGHT.slice(0, 4)), eps: 1e-6 }),
    want: rows(4).flatMap((row) =>
      row.map((x, i) => (x / Math.sqrt(mean(row.map((y) => y * y)) + 1e-6)) * (WEIGHT[i] as number)),
    ),
  },
};
