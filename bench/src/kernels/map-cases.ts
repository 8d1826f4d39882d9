import {
  add,
  batchNormRelu,
  biasGelu,
  biasReluResidual,
  bilinear,
  copy,
  exp,
  gatherRows,
  maxPool,
  tanh,
} from './graphs.ts';
import type { KernelCase } from './kernel-case.ts';

/** Abramowitz and Stegun 7.1.26: within 1.5e-7, enough to see a wrong element. */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.sign(x) * (1 - p * Math.exp(-x * x));
}

const close = (value: number, tolerance = 1e-5): { value: number; tolerance: number } => ({
  value,
  tolerance: tolerance * Math.max(1e-2, Math.abs(value)),
});

/** A function of an array. */
export function unaryCase(op: 'unary_exp' | 'unary_tanh', n: number): KernelCase {
  const f = op === 'unary_exp' ? Math.exp : Math.tanh;
  return {
    op,
    name: `${n}`,
    bytes: 8 * n,
    kernel: op === 'unary_exp' ? exp : tanh,
    shape: [n],
    inputs: { x: { length: n } },
    output: { name: 'y', length: n },
    expected: (read, index) => close(f(read('x', index))),
  };
}

/** The sum of two arrays, of f32 or of f16. */
export function addCase(n: number, dtype: 'f32' | 'f16'): KernelCase {
  return {
    op: dtype === 'f32' ? 'binary_add' : 'add_f16',
    name: `${n}`,
    bytes: (dtype === 'f32' ? 12 : 6) * n,
    kernel: add,
    shape: [n],
    inputs: { a: { length: n, dtype }, b: { length: n, dtype } },
    output: { name: 'y', length: n, dtype },
    expected: (read, index) => close(read('a', index) + read('b', index), dtype === 'f32' ? 1e-5 : 1e-2),
  };
}

/** f32 to f16, or back. */
export function castCase(from: 'f32' | 'f16', n: number): KernelCase {
  const to = from === 'f32' ? 'f16' : 'f32';
  return {
    op: `cast_${from}_${to}`,
    name: `${n}`,
    bytes: 6 * n,
    kernel: copy,
    shape: [n],
    inputs: { x: { length: n, dtype: from } },
    output: { name: 'y', length: n, dtype: to },
    expected: (read, index) => close(read('x', index), 1e-3),
  };
}

/** A transposed copy. */
export function transposeCase(rows: number, columns: number): KernelCase {
  const n = rows * columns;
  return {
    op: 'transpose',
    name: `${rows}x${columns}`,
    bytes: 8 * n,
    kernel: copy,
    shape: [columns, rows],
    inputs: { x: { length: n, strides: [1, columns] } },
    output: { name: 'y', length: n },
    expected: (read, index) => close(read('x', (index % rows) * columns + Math.floor(index / rows)), 0),
  };
}

/** A copy with the two middle axes exchanged. */
export function permuteCase(a: number, b: number, c: number, d: number): KernelCase {
  const n = a * b * c * d;
  return {
    op: 'permute_0213',
    name: [a, b, c, d].join('x'),
    bytes: 8 * n,
    kernel: copy,
    shape: [a, c, b, d],
    inputs: { x: { length: n, strides: [b * c * d, d, c * d, 1] } },
    output: { name: 'y', length: n },
    expected: (read, index) => {
      const [i, j, k, l] = [
        Math.floor(index / (b * c * d)),
        Math.floor(index / (b * d)) % c,
        Math.floor(index / d) % b,
        index % d,
      ];
      return close(read('x', ((i * b + k) * c + j) * d + l), 0);
    },
  };
}

/** Rows of a table. */
export function gatherCase(table: number, rows: number, columns: number): KernelCase {
  return {
    op: 'gather_rows',
    name: `${table}x${columns},${rows}`,
    bytes: 8 * rows * columns,
    kernel: gatherRows,
    shape: [rows, columns],
    inputs: {
      table: { length: table * columns, shape: [table, columns] },
      id: { length: rows, dtype: 'u32', below: table, strides: [1, 0] },
    },
    output: { name: 'y', length: rows * columns },
    expected: (read, index) =>
      close(read('table', read('id', Math.floor(index / columns)) * columns + (index % columns)), 0),
  };
}

/** Elements of rows with a vector beside them. */
export function biasCase(op: 'bias_gelu' | 'bias_relu_residual', rows: number, columns: number): KernelCase {
  const n = rows * columns;
  const isGelu = op === 'bias_gelu';
  return {
    op,
    name: `${rows}x${columns}`,
    bytes: (isGelu ? 8 : 12) * n,
    kernel: isGelu ? biasGelu : biasReluResidual,
    shape: [rows, columns],
    inputs: { x: { length: n }, b: { length: columns, strides: [0, 1] }, ...(isGelu ? {} : { r: { length: n } }) },
    output: { name: 'y', length: n },
    expected: (read, index) => {
      const x = read('x', index) + read('b', index % columns);
      return close(isGelu ? (x * (1 + erf(x / Math.SQRT2))) / 2 : Math.max(x, 0) + read('r', index), 1e-4);
    },
  };
}

interface Image {
  readonly n: number;
  readonly c: number;
  readonly hw: number;
}

const imageName = ({ n, c, hw }: Image): string => `n${n}c${c}hw${hw}`;

/** A channel's scale and shift, then relu. */
export function batchNormCase(image: Image): KernelCase {
  const { n, c, hw } = image;
  const plane = hw * hw;
  const vector = { length: c, strides: [0, 1, 0] };
  return {
    op: 'batch_norm_relu',
    name: imageName(image),
    bytes: 8 * n * c * plane,
    kernel: batchNormRelu,
    shape: [n, c, plane],
    inputs: { x: { length: n * c * plane }, s: vector, t: vector },
    output: { name: 'y', length: n * c * plane },
    expected: (read, index) => {
      const channel = Math.floor(index / plane) % c;
      return close(Math.max(read('x', index) * read('s', channel) + read('t', channel), 0));
    },
  };
}

/** 3 x 3, stride 2, padding 1. */
export function maxPoolCase(image: Image): KernelCase {
  const { n, c, hw } = image;
  const out = hw / 2;
  return {
    op: 'max_pool_3x3s2p1',
    name: imageName(image),
    bytes: 5 * n * c * hw * hw,
    kernel: maxPool,
    shape: [n * c, out, out],
    inputs: { x: { length: n * c * hw * hw, shape: [n * c, hw, hw] } },
    output: { name: 'y', length: n * c * out * out },
    expected: (read, index) => {
      const [plane, row, column] = [Math.floor(index / (out * out)), Math.floor(index / out) % out, index % out];
      let most = -Infinity;
      for (let i = 2 * row - 1; i <= 2 * row + 1; i++) {
        for (let j = 2 * column - 1; j <= 2 * column + 1; j++) {
          if (i >= 0 && j >= 0) most = Math.max(most, read('x', (plane * hw + i) * hw + j));
        }
      }
      return close(most, 0);
    },
  };
}

/** Twice as large. */
export function bilinearCase(image: Image): KernelCase {
  const { n, c, hw } = image;
  const out = 2 * hw;
  return {
    op: 'upsample_bilinear_2x',
    name: imageName(image),
    bytes: 20 * n * c * hw * hw,
    kernel: bilinear,
    shape: [n * c, out, out],
    inputs: { x: { length: n * c * hw * hw, shape: [n * c, hw, hw] } },
    params: { height: hw, width: hw },
    output: { name: 'y', length: n * c * out * out },
    expected: (read, index) => {
      const [plane, row, column] = [Math.floor(index / (out * out)), Math.floor(index / out) % out, index % out];
      const place = (at: number) => Math.min(Math.max(at / 2 - 0.25, 0), hw - 1);
      const [y, x] = [place(row), place(column)];
      const [y0, x0] = [Math.floor(y), Math.floor(x)];
      const pixel = (i: number, j: number) => read('x', (plane * hw + Math.min(i, hw - 1)) * hw + Math.min(j, hw - 1));
      const line = (i: number) => pixel(i, x0) + (pixel(i, x0 + 1) - pixel(i, x0)) * (x - x0);
      return close(line(y0) + (line(y0 + 1) - line(y0)) * (y - y0), 1e-3);
    },
  };
}
