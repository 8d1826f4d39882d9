import { empty, permute, quantizedTensor, swiglu, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { numbers } from '../support/numbers.ts';
import type { OpCases } from '../support/op-case.ts';

const [ROWS, IN, OUT] = [6, 8, 5];
const [X, GATE, UP] = [numbers(ROWS * IN, 61), numbers(OUT * IN, 62), numbers(OUT * IN, 63)] as const;
const HALVES = Array.from({ length: OUT * IN }, (_, i) => (((i * 7) % 11) - 5) / 2);
const silu = (x: number): number => x / (1 + Math.exp(-x));

function wanted(activation: (x: number) => number, gate: readonly number[], up: readonly number[]): number[] {
  const dot = (row: number, weight: readonly number[], column: number): number =>
    X.slice(row * IN, row * IN + IN).reduce((sum, x, i) => sum + x * (weight[column * IN + i] as number), 0);
  return Array.from({ length: ROWS * OUT }, (_, at) => {
    const [row, column] = [Math.floor(at / OUT), at % OUT];
    return activation(dot(row, gate, column)) * dot(row, up, column);
  });
}

/** swiglu by its definition: batches, views, out, f16, quantized weights. */
export const swigluCases: OpCases = {
  'batches of rows; another activation, weights stored [in, out]': {
    run: (b) => {
      const [x, gate, up] = [tensor(b, X, [2, 3, IN]), tensor(b, GATE, [OUT, IN]), tensor(b, UP, [OUT, IN])];
      const stored = transpose(permute(tensor(b, UP, [OUT, IN]), [1, 0]));
      return [swiglu(x, gate, up), swiglu(x, gate, stored, { activation: 'relu', out: empty(b, [2, 3, OUT]) })];
    },
    want: [wanted(silu, GATE, UP), wanted((x) => Math.max(0, x), GATE, UP)],
    shape: [2, 3, OUT],
  },
  'gate and up in one weight': {
    run: (b) => {
      const x = tensor(b, X, [2, 3, IN]);
      const both = tensor(b, [...GATE, ...UP], [2 * OUT, IN]);
      const out = empty(b, [2, 3, OUT]);
      swiglu(x, both, null, { activation: 'relu', out });
      return [swiglu(x, both, null), out];
    },
    want: [wanted(silu, GATE, UP), wanted((x) => Math.max(0, x), GATE, UP)],
    shape: [2, 3, OUT],
  },
  'f16, and one row': {
    run: (b) => {
      const of = (values: readonly number[], shape: readonly number[]) =>
        tensor(b, Float32Array.from(values), shape, { dtype: 'f16' });
      return [
        swiglu(of(X, [ROWS, IN]), of(GATE, [OUT, IN]), of(UP, [OUT, IN])),
        swiglu(tensor(b, X.slice(0, IN)), tensor(b, GATE, [OUT, IN]), tensor(b, UP, [OUT, IN])),
      ];
    },
    want: [wanted(silu, GATE, UP), wanted(silu, GATE, UP).slice(0, OUT)],
    tolerance: 4e-3,
  },
  'quantized weights': {
    run: (b) => {
      const data = Int8Array.from(HALVES, (x) => 2 * x);
      const weight = quantizedTensor(b, {
        shape: [OUT, IN],
        dtype: 'i8',
        block: IN,
        data,
        scales: HALVES.slice(0, OUT).map(() => 0.5),
      });
      return swiglu(tensor(b, X, [ROWS, IN]), weight, weight);
    },
    want: wanted(silu, HALVES, HALVES),
  },
};
