import type { DevicePtr } from '@concord/backend-core';
import { biasGelu, layerNorm, softmax } from '../kernels/graphs.ts';
import type { RowsWork } from '../work.ts';
import { defineCase, type LimitCase, type Operands } from './limit-case.ts';
import type { NoiseArray } from './noise-array.ts';

/** Added to the variance; everybody's default. */
export const EPS = 1e-5;
/** Exponentials of others are some ulp off, and so is the sum of a row. */
const ROUNDINGS = 10;

/** Rows that one kernel of `run` computes. */
export function rows(work: RowsWork): LimitCase {
  const { op, rows: count, columns } = work;
  const n = count * columns;
  const shape = [count, columns];
  const vectors = { softmax: 0, layer_norm: 2, bias_gelu: 1 }[op];
  const vector = (ptr: DevicePtr) => ({ ptr, strides: [0, 1] });
  return defineCase({
    work,
    name: `${count}x${columns}`,
    bytes: 8 * n,
    inputs: [n, ...Array.from({ length: vectors }, () => columns)],
    length: n,
    expected: (inputs, index) => {
      const value = valueOf(work, inputs, index);
      return { value, magnitude: ROUNDINGS * (op === 'softmax' ? value : 1) };
    },
    call: (backend, [x, a, b], output) => {
      const outputs = { y: { ptr: output } };
      if (op === 'softmax') backend.run(softmax, { shape, folded: 1, inputs: { x: { ptr: x } }, outputs });
      else if (op === 'bias_gelu') {
        backend.run(biasGelu, { shape, inputs: { x: { ptr: x }, b: vector(a) }, outputs });
      } else {
        const inputs = { x: { ptr: x }, scale: vector(a), shift: vector(b) };
        backend.run(layerNorm, { shape, folded: 1, inputs, outputs, params: { eps: EPS } });
      }
    },
  });
}

function valueOf({ op, columns }: RowsWork, [x, a, b]: Operands<NoiseArray>, index: number): number {
  const column = index % columns;
  const value = x.at(index);
  if (op === 'bias_gelu') {
    const sum = value + a.at(column);
    return (sum * (1 + erf(sum / Math.SQRT2))) / 2;
  }
  const row = Float64Array.from({ length: columns }, (_, i) => x.at(index - column + i));
  if (op === 'softmax') return Math.exp(value) / row.reduce((sum, each) => sum + Math.exp(each), 0);
  const mean = row.reduce((sum, each) => sum + each, 0) / columns;
  const variance = row.reduce((sum, each) => sum + (each - mean) ** 2, 0) / columns;
  return ((value - mean) / Math.sqrt(variance + EPS)) * a.at(column) + b.at(column);
}

/** The error function by its Maclaurin series (Abramowitz and Stegun 7.1.5), for the |x| < 1 of noise. */
function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 30; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
