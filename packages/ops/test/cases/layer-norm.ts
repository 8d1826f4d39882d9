import { layerNorm, permute, rmsNorm } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { farNumbers, normalized, numbers } from '../support/numbers.ts';
import type { OpCase } from '../support/op-case.ts';

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

const rows = (length: number): number[][] =>
  Array.from({ length: X.length / length }, (_, row) => X.slice(row * length, row * length + length));

/** LayerNormalization and RMSNormalization of ONNX, worked out anew. */
export const layerNormCases: readonly OpCase[] = [
  {
    name: 'layerNorm without weight',
    run: (b) => layerNorm(tensor(b, X, [2, 3, 4])),
    want: rows(4).flatMap((row) =>
      layer(
        row,
        () => 1,
        () => 0,
      ),
    ),
  },
  {
    name: 'layerNorm of two axes',
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
  {
    name: 'layerNorm of a permuted view',
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
  {
    name: 'layerNorm of a million numbers that are far from 0',
    run: (b) => layerNorm(tensor(b, FAR)),
    want: normalized(FAR),
  },
  {
    name: 'rmsNorm',
    run: (b) => rmsNorm(tensor(b, X, [6, 4]), { weight: tensor(b, WEIGHT.slice(0, 4)), eps: 1e-6 }),
    want: rows(4).flatMap((row) =>
      row.map((x, i) => (x / Math.sqrt(mean(row.map((y) => y * y)) + 1e-6)) * (WEIGHT[i] as number)),
    ),
  },
];
