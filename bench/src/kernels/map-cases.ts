import { binaryKernel, defineKernel, type Kernel, unaryKernel } from '@concord/backend-core/kernel';
import { EXACT, type KernelCase, kernelCase, sizes } from './kernel-case.ts';

/** A function of an array. */
export function unary(op: 'unary_exp' | 'unary_tanh', n: number): KernelCase {
  const name = op === 'unary_exp' ? 'exp' : 'tanh';
  return kernelCase(op, `${n}`, {
    ...{ kernel: unaryKernel(name), shape: [n] },
    expected: ({ at }) => Math[name](at('input')),
  });
}

/** The sum of two arrays. */
export function add(n: number, dtype: 'f32' | 'f16'): KernelCase {
  return kernelCase(dtype === 'f32' ? 'binary_add' : 'add_f16', `${n}`, {
    ...{ kernel: binaryKernel('add'), shape: [n], inputs: { a: { dtype }, b: { dtype } }, output: { dtype } },
    expected: ({ at }) => at('a') + at('b'),
    ...(dtype === 'f16' && { relative: 1e-3, absolute: 1e-4 }),
  });
}

/** The elements as they are, in another type or another place. */
const COPY: Kernel = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));

/** f32 to f16, or back. */
export function cast(from: 'f32' | 'f16', n: number): KernelCase {
  const to = from === 'f32' ? 'f16' : 'f32';
  return kernelCase(`cast_${from}_${to}`, `${n}`, {
    ...{ kernel: COPY, shape: [n], inputs: { x: { dtype: from } }, output: { dtype: to } },
    expected: ({ at }) => at('x'),
    ...{ relative: 1e-3, absolute: 1e-4 },
  });
}

/** A transposed copy. */
export function transpose(rows: number, columns: number): KernelCase {
  return kernelCase('transpose', sizes(rows, columns), {
    ...{ kernel: COPY, shape: [columns, rows], inputs: { x: { strides: [1, columns] } } },
    expected: ({ at }) => at('x'),
    ...EXACT,
  });
}

/** The two middle axes exchanged. */
export function permute(a: number, b: number, c: number, d: number): KernelCase {
  return kernelCase('permute_0213', sizes(a, b, c, d), {
    ...{ kernel: COPY, shape: [a, c, b, d], inputs: { x: { strides: [b * c * d, d, c * d, 1] } } },
    expected: ({ at }) => at('x'),
    ...EXACT,
  });
}

/** Rows of a table. */
export function gather(table: number, rows: number, columns: number): KernelCase {
  return kernelCase('gather_rows', `${table}x${columns},${rows}`, {
    kernel: defineKernel(
      'gatherRows',
      { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, id: 'u32' } },
      (given, k) => ({ y: k.gather(given.table, [given.id, k.index(-1)], 0) }),
    ),
    ...{ shape: [rows, columns], bytes: 8 * rows * columns },
    inputs: { table: { shape: [table, columns] }, id: { dtype: 'u32', below: table, strides: [1, 0] } },
    expected: ({ at, read, point }) => read('table', at('id') * columns + (point[1] as number)),
    ...EXACT,
  });
}

/** The gelu of rows with a number for each column added. */
export function biasGelu(rows: number, columns: number): KernelCase {
  return kernelCase('bias_gelu', sizes(rows, columns), {
    kernel: defineKernel('biasGelu', { inputs: { x: 'f32', b: 'f32' } }, ({ x, b }, k) => ({ y: k.gelu(k.add(x, b)) })),
    ...{ shape: [rows, columns], inputs: { b: { strides: [0, 1] } } },
    expected({ at }) {
      const x = at('x') + at('b');
      return (x * (1 + erf(x / Math.SQRT2))) / 2;
    },
    absolute: 1e-4,
  });
}

/** The relu of rows with a number for each column added, plus other rows. */
export function biasReluResidual(rows: number, columns: number): KernelCase {
  return kernelCase('bias_relu_residual', sizes(rows, columns), {
    kernel: defineKernel('biasReluResidual', { inputs: { x: 'f32', b: 'f32', r: 'f32' } }, ({ x, b, r }, k) => ({
      y: k.add(k.max(k.add(x, b), 0), r),
    })),
    ...{ shape: [rows, columns], inputs: { b: { strides: [0, 1] } } },
    expected: ({ at }) => Math.max(at('x') + at('b'), 0) + at('r'),
    absolute: 1e-6,
  });
}

/** The error function by its Maclaurin series (Abramowitz and Stegun 7.1.5), for the |x| < 2 of noise. */
function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 40; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}
