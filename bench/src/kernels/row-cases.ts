import type { Kernel } from '@concord/backend-core/kernel';
import { argmax, crossEntropy, layerNorm, rmsNorm, rowMax, rowMean, rowSum, softmax } from './graphs.ts';
import type { KernelCase, Read } from './kernel-case.ts';

const EPS = 1e-5;

/** The elements of a row, remembered: samples share rows. */
function rowsOf(read: Read, columns: number, step = 1): (row: number) => Float64Array {
  const known = new Map<number, Float64Array>();
  return (row) => {
    let values = known.get(row);
    if (values === undefined) {
      const first = step === 1 ? row * columns : row;
      values = Float64Array.from({ length: columns }, (_, i) => read('x', first + i * step));
      known.set(row, values);
    }
    return values;
  };
}

function memoized<T>(compute: (row: number) => T): (row: number) => T {
  const known = new Map<number, T>();
  return (row) => {
    if (!known.has(row)) known.set(row, compute(row));
    return known.get(row) as T;
  };
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const sumExp = (values: Float64Array): number => values.reduce((sum, value) => sum + Math.exp(value), 0);

/** What a case expects, told once the inputs can be read. */
function lazily(
  prepare: (read: Read) => (index: number) => number,
  tolerance: (value: number) => number,
): KernelCase['expected'] {
  let value: ((index: number) => number) | undefined;
  return (read, index) => {
    value ??= prepare(read);
    const wanted = value(index);
    return { value: wanted, tolerance: tolerance(wanted) };
  };
}

const relative = (factor: number) => (value: number) => factor * Math.abs(value) + 1e-7;

/** Softmax of rows. */
export function softmaxCase(rows: number, columns: number): KernelCase {
  const n = rows * columns;
  return {
    op: 'softmax',
    name: `${rows}x${columns}`,
    bytes: 8 * n,
    kernel: softmax,
    shape: [rows, columns],
    folded: 1,
    inputs: { x: { length: n } },
    output: { name: 'y', length: n },
    expected: lazily((read) => {
      const total = memoized((row: number) => sumExp(rowsOf(read, columns)(row)));
      return (index) => Math.exp(read('x', index)) / total(Math.floor(index / columns));
    }, relative(1e-4)),
  };
}

/** Softmax down the columns. */
export function softmaxDownCase(rows: number, columns: number): KernelCase {
  const n = rows * columns;
  return {
    op: 'softmax_axis0',
    name: `${rows}x${columns}`,
    bytes: 8 * n,
    kernel: softmax,
    shape: [columns, rows],
    folded: 1,
    inputs: { x: { length: n, strides: [1, columns] } },
    output: { name: 'y', length: n, strides: [1, columns] },
    expected: lazily((read) => {
      const total = memoized((column: number) => sumExp(rowsOf(read, rows, columns)(column)));
      return (index) => Math.exp(read('x', index)) / total(index % columns);
    }, relative(1e-4)),
  };
}

/** layerNorm or rmsNorm of rows. */
export function normCase(op: 'layer_norm' | 'rms_norm', rows: number, columns: number): KernelCase {
  const n = rows * columns;
  const isLayer = op === 'layer_norm';
  const vector = { length: columns, strides: [0, 1] };
  return {
    op,
    name: `${rows}x${columns}`,
    bytes: 8 * n,
    kernel: isLayer ? layerNorm : rmsNorm,
    shape: [rows, columns],
    folded: 1,
    inputs: { x: { length: n }, scale: vector, ...(isLayer ? { shift: vector } : {}) },
    params: { eps: EPS },
    output: { name: 'y', length: n },
    expected: lazily(
      (read) => {
        const stats = memoized((row: number) => {
          const values = rowsOf(read, columns)(row);
          const center = isLayer ? mean(values) : 0;
          return { center, r: 1 / Math.sqrt(mean(values.map((value) => (value - center) ** 2)) + EPS) };
        });
        return (index) => {
          const { center, r } = stats(Math.floor(index / columns));
          const column = index % columns;
          return (read('x', index) - center) * r * read('scale', column) + (isLayer ? read('shift', column) : 0);
        };
      },
      (value) => 1e-4 * Math.abs(value) + 1e-4,
    ),
  };
}

const FOLDS: Readonly<Record<'reduce_sum' | 'reduce_max' | 'global_avg_pool' | 'argmax', Kernel>> = {
  reduce_sum: rowSum,
  reduce_max: rowMax,
  global_avg_pool: rowMean,
  argmax,
};

/** A fold of the middle axis of [outer, length, inner]. */
export function foldCase(op: keyof typeof FOLDS, name: string, outer: number, length: number, inner = 1): KernelCase {
  const n = outer * length * inner;
  return {
    op,
    name,
    bytes: 4 * n,
    kernel: FOLDS[op],
    shape: [outer, inner, length],
    folded: 1,
    inputs: { x: { length: n, strides: [length * inner, 1, inner] } },
    output: { name: 'y', length: outer * inner, ...(op === 'argmax' ? { dtype: 'u32' as const } : {}) },
    expected: lazily(
      (read) => {
        return (index) => {
          const first = Math.floor(index / inner) * length * inner + (index % inner);
          let [sum, most, place] = [0, -Infinity, 0];
          for (let i = 0; i < length; i++) {
            const value = read('x', first + i * inner);
            sum += value;
            if (value > most) [most, place] = [value, i];
          }
          return { reduce_sum: sum, reduce_max: most, global_avg_pool: sum / length, argmax: place }[op];
        };
      },
      () => (op === 'reduce_sum' ? 1e-6 * length : op === 'global_avg_pool' ? 1e-6 : 0),
    ),
  };
}

/** log softmax at one column of each row. */
export function crossEntropyCase(rows: number, columns: number): KernelCase {
  const n = rows * columns;
  return {
    op: 'cross_entropy_rows',
    name: `${rows}x${columns}`,
    bytes: 4 * n,
    kernel: crossEntropy,
    shape: [rows, columns],
    folded: 1,
    inputs: { x: { length: n }, first: { length: rows } },
    output: { name: 'y', length: rows },
    expected: lazily(
      (read) => (row) => read('first', row) - Math.log(sumExp(rowsOf(read, columns)(row))),
      () => 1e-3,
    ),
  };
}
