import { softmaxCase } from '@concord/cli/bench';
import { defineKernel, type Kernel, reduceKernel } from '@concord/backend-core/kernel';
import { type KernelCase, kernelCase, sizes } from './kernel-case.ts';

/** A softmax of rows, or of columns. */
export function softmax(rows: number, columns: number, isDown = false): KernelCase {
  const benchCase = softmaxCase('bench', '', rows, columns, isDown);
  return { op: isDown ? 'softmax_axis0' : 'softmax', name: sizes(rows, columns), benchCase };
}

/** Added to the variance; the default of all contestants. */
export const EPS = 1e-5;

const LAYER_NORM = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', scale: 'f32', shift: 'f32' }, params: { eps: 'f32' } },
  ({ x, scale, shift, eps }, k) => {
    const d = k.sub(x, k.fold('mean', x));
    const r = k.rsqrt(k.add(k.fold('mean', k.mul(d, d)), eps));
    return { y: k.add(k.mul(k.mul(d, r), scale), shift) };
  },
);
const RMS_NORM = defineKernel(
  'rmsNorm',
  { inputs: { x: 'f32', scale: 'f32' }, params: { eps: 'f32' } },
  ({ x, scale, eps }, k) => {
    const r = k.rsqrt(k.add(k.fold('mean', k.mul(x, x)), eps));
    return { y: k.mul(k.mul(x, r), scale) };
  },
);

/** Rows by their mean and variance, or by their mean square alone. */
export function norm(op: 'layer_norm' | 'rms_norm', rows: number, columns: number): KernelCase {
  const isLayer = op === 'layer_norm';
  const vector = { strides: [0, 1] };
  return kernelCase(op, sizes(rows, columns), {
    ...{ kernel: isLayer ? LAYER_NORM : RMS_NORM, shape: [rows, columns], folded: 1 },
    ...{ inputs: { scale: vector, ...(isLayer && { shift: vector }) }, params: { eps: EPS }, flops: 6 },
    ofRow(visit) {
      let [sum, squares] = [0, 0];
      visit('x', (x) => (sum += x));
      const mean = isLayer ? sum / columns : 0;
      visit('x', (x) => (squares += (x - mean) ** 2));
      return { mean, r: 1 / Math.sqrt(squares / columns + EPS) };
    },
    expected: ({ at }, { mean, r }) => (at('x') - mean) * r * at('scale') + (isLayer ? at('shift') : 0),
    ...{ relative: 1e-4, absolute: 1e-4 },
  });
}

const FOLDS: Readonly<Record<'reduce_sum' | 'reduce_max' | 'global_avg_pool' | 'argmax', Kernel>> = {
  reduce_sum: reduceKernel('sum'),
  reduce_max: reduceKernel('max'),
  global_avg_pool: reduceKernel('mean'),
  argmax: defineKernel('argmax', { inputs: { input: 'f32' } }, ({ input }, k) => ({ output: k.fold('argmax', input) })),
};

/** A fold of the middle axis of [outer, length, inner]. */
export function fold(op: keyof typeof FOLDS, name: string, outer: number, length: number, inner = 1): KernelCase {
  return kernelCase(op, name, {
    ...{ kernel: FOLDS[op], shape: [outer, inner, length], folded: 1 },
    inputs: { input: { strides: [length * inner, 1, inner] } },
    ...(op === 'argmax' && { output: { dtype: 'u32' } }),
    ofRow(visit) {
      let [sum, most, place] = [0, -Infinity, 0];
      visit('input', (x, i) => {
        sum += x;
        if (x > most) [most, place] = [x, i];
      });
      return { reduce_sum: sum, reduce_max: most, global_avg_pool: sum / length, argmax: place }[op];
    },
    expected: (_, result) => result,
    ...{ relative: 0, absolute: { reduce_sum: 1e-6 * length, reduce_max: 0, global_avg_pool: 1e-6, argmax: 0 }[op] },
  });
}

/** The log softmax at one column of each row. */
export function crossEntropy(rows: number, columns: number): KernelCase {
  return kernelCase('cross_entropy_rows', sizes(rows, columns), {
    kernel: defineKernel(
      'crossEntropy',
      { inputs: { x: 'f32', first: { type: 'f32', level: 'row' } } },
      ({ x, first }, k) => {
        const most = k.fold('max', x);
        return { y: k.sub(k.sub(first, most), k.log(k.fold('sum', k.exp(k.sub(x, most))))) };
      },
    ),
    ...{ shape: [rows, columns], folded: 1, flops: 3 },
    ofRow(visit) {
      let sum = 0;
      visit('x', (x) => (sum += Math.exp(x)));
      return Math.log(sum);
    },
    expected: ({ at }, logSum) => at('first') - logSum,
    absolute: 1e-3,
  });
}
