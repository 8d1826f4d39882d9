import { binaryKernel, defineKernel, type Kernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';
import { type BenchCase, runCase, type RunCaseOptions, softmaxCase } from '@concord/cli/bench';

/** A kernel as PyTorch is timed with it too, by the names that both sides give it. */
export interface KernelCase {
  readonly op: string;
  readonly name: string;
  readonly benchCase: BenchCase;
}

/** A case of `run`, whose kernel has the output y. */
function kernelCase<Row = undefined>(
  op: string,
  name: string,
  options: Omit<RunCaseOptions<Row>, 'id' | 'title'>,
): KernelCase {
  return { op, name, benchCase: runCase({ id: `${op}/${name}`, title: `${op} ${name}`, ...options }) };
}

/** The name of a shape. */
const sizes = (...all: readonly number[]): string => all.join('x');
/** Copies have to be equal to their source. */
const EXACT = { relative: 0, absolute: 0 } as const;

/** The cases that PyTorch is timed with too, and those that a fold or a function alone was timed with before. */
export function kernelCases(quick: boolean): readonly KernelCase[] {
  const n = quick ? 1000 : 2 ** 27;
  const image = quick ? { n: 2, c: 3, hw: 12 } : { n: 16, c: 64, hw: 112 };
  const [channels, pixels] = [image.n * image.c, image.hw ** 2];
  const [vocabulary, texts] = quick ? [257, 4] : [50257, 4096];
  // Shapes by the names that they have in results.
  const shapes = (whole: string, tiny: string): number[][] =>
    (quick ? tiny : whole).split(' ').map((shape) => shape.split('x').map(Number));
  const matrices = (whole: string, tiny: string) => shapes(whole, tiny) as [rows: number, columns: number][];
  const softmaxes = '8192x8192 98304x1024 262144x128 3000x32768 2000x50257 98304x1023 1x16777216';
  const folded = '67108864@0 8192x8192@1 8192x8192@0 64x256x56x56@1 4194304x8@1';
  return [
    unary('unary_exp', n),
    unary('unary_tanh', quick ? 1003 : n),
    add(n, 'f32'),
    ...(['reduce_sum', 'reduce_max'] as const).flatMap((op) =>
      (quick ? '5000@0 16x64@1 64x16@0 3x8x28@1' : folded).split(' ').map((each) => foldAlong(op, each)),
    ),
    ...matrices(softmaxes, '5x64 5x1023 1x100000').map(([rows, columns]) => softmax(rows, columns)),
    ...matrices('1024x98304', '64x32').map(([rows, columns]) => softmax(rows, columns, true)),
    ...(['layer_norm', 'rms_norm'] as const).flatMap((op) =>
      matrices('8192x768 65536x1024 8192x8192', '4x768 4x100').map(([rows, columns]) => norm(op, rows, columns)),
    ),
    ...matrices('8192x8192', '96x80').map(([rows, columns]) => transpose(rows, columns)),
    ...shapes('8x1024x12x64 64x1024x16x64', '2x16x3x8').map((shape) => permute(...(shape as Four))),
    quick ? gather(50, 16, 24) : gather(vocabulary, 65536, 768),
    ...[biasGelu, biasReluResidual].map((bias) => (quick ? bias(16, 96) : bias(32768, 3072))),
    cast('f32', n),
    cast('f16', n),
    add(n, 'f16'),
    fold('argmax', `${texts}x${vocabulary}`, texts, vocabulary),
    crossEntropy(texts, vocabulary),
    maxPool(image),
    fold('global_avg_pool', imageName(image), channels, pixels),
    bilinear(image),
    batchNorm(image),
  ];
}

type Four = [number, number, number, number];

/** A fold of an axis, as `64x256x56x56@1`. */
function foldAlong(op: 'reduce_sum' | 'reduce_max', text: string): KernelCase {
  const [shape = '', axis = ''] = text.split('@');
  const all = shape.split('x').map(Number);
  const product = (some: readonly number[]): number => some.reduce((x, y) => x * y, 1);
  const [outer, inner] = [product(all.slice(0, Number(axis))), product(all.slice(Number(axis) + 1))];
  return fold(op, `${shape} axis ${axis}`, outer, all[Number(axis)] as number, inner);
}

/** A function of an array. */
function unary(op: 'unary_exp' | 'unary_tanh', n: number): KernelCase {
  const name = op === 'unary_exp' ? 'exp' : 'tanh';
  return kernelCase(op, `${n}`, {
    ...{ kernel: unaryKernel(name), shape: [n] },
    expected: ({ at }) => Math[name](at('input')),
  });
}

/** The sum of two arrays. */
function add(n: number, dtype: 'f32' | 'f16'): KernelCase {
  return kernelCase(dtype === 'f32' ? 'binary_add' : 'add_f16', `${n}`, {
    ...{ kernel: binaryKernel('add'), shape: [n], inputs: { a: { dtype }, b: { dtype } }, output: { dtype } },
    expected: ({ at }) => at('a') + at('b'),
    ...(dtype === 'f16' && { relative: 1e-3, absolute: 1e-4 }),
  });
}

/** The elements as they are, in another type or another place. */
const COPY: Kernel = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));

/** f32 to f16, or back. */
function cast(from: 'f32' | 'f16', n: number): KernelCase {
  const to = from === 'f32' ? 'f16' : 'f32';
  return kernelCase(`cast_${from}_${to}`, `${n}`, {
    ...{ kernel: COPY, shape: [n], inputs: { x: { dtype: from } }, output: { dtype: to } },
    expected: ({ at }) => at('x'),
    ...{ relative: 1e-3, absolute: 1e-4 },
  });
}

/** A transposed copy. */
function transpose(rows: number, columns: number): KernelCase {
  return kernelCase('transpose', sizes(rows, columns), {
    ...{ kernel: COPY, shape: [columns, rows], inputs: { x: { strides: [1, columns] } } },
    expected: ({ at }) => at('x'),
    ...EXACT,
  });
}

/** The two middle axes exchanged. */
function permute(a: number, b: number, c: number, d: number): KernelCase {
  return kernelCase('permute_0213', sizes(a, b, c, d), {
    ...{ kernel: COPY, shape: [a, c, b, d], inputs: { x: { strides: [b * c * d, d, c * d, 1] } } },
    expected: ({ at }) => at('x'),
    ...EXACT,
  });
}

/** Rows of a table. */
function gather(table: number, rows: number, columns: number): KernelCase {
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
function biasReluResidual(rows: number, columns: number): KernelCase {
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
function fold(op: keyof typeof FOLDS, name: string, outer: number, length: number, inner = 1): KernelCase {
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
function crossEntropy(rows: number, columns: number): KernelCase {
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

/** Square images `[n, c, hw, hw]`. */
interface Image {
  readonly n: number;
  readonly c: number;
  readonly hw: number;
}

/** The name of a case on images. */
const imageName = ({ n, c, hw }: Image): string => `n${n}c${c}hw${hw}`;

/** A channel's scale and shift, then relu. */
function batchNorm(image: Image): KernelCase {
  const vector = { strides: [0, 1, 0] };
  return kernelCase('batch_norm_relu', imageName(image), {
    kernel: defineKernel('batchNormRelu', { inputs: { x: 'f32', s: 'f32', t: 'f32' } }, ({ x, s, t }, k) => ({
      y: k.max(k.add(k.mul(x, s), t), 0),
    })),
    ...{ shape: [image.n, image.c, image.hw ** 2], inputs: { s: vector, t: vector } },
    expected: ({ at }) => Math.max(at('x') * at('s') + at('t'), 0),
    absolute: 1e-6,
  });
}

/** 3 x 3, stride 2, padding 1. */
function maxPool(image: Image): KernelCase {
  const { n, c, hw } = image;
  return kernelCase('max_pool_3x3s2p1', imageName(image), {
    kernel: defineKernel('maxPool', { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } } }, ({ x }, k) => {
      const at = (axis: number, tap: number) => k.add(k.mul(k.toI32(k.index(axis)), 2), tap - 1);
      const taps = [0, 1, 2].flatMap((i) =>
        [0, 1, 2].map((j) => k.gather(x, [k.index(0), at(1, i), at(2, j)], Number.NEGATIVE_INFINITY)),
      );
      return { y: taps.reduce((most, tap) => k.max(most, tap)) };
    }),
    ...{ shape: [n * c, hw / 2, hw / 2], inputs: { x: { shape: [n * c, hw, hw] } }, flops: 9 },
    expected({ read, point }) {
      const [plane, row, column] = point as [number, number, number];
      const around = (at: number): number[] => [2 * at - 1, 2 * at, 2 * at + 1].filter((place) => place >= 0);
      const taps = around(row).flatMap((i) => around(column).map((j) => read('x', (plane * hw + i) * hw + j)));
      return Math.max(...taps);
    },
    ...EXACT,
  });
}

const BILINEAR = defineKernel(
  'bilinear',
  { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } }, params: { height: 'f32', width: 'f32' } },
  ({ x, height, width }, k) => {
    const place = (axis: number, size: typeof height) => {
      const at = k.clamp(k.sub(k.mul(k.toF32(k.index(axis)), 0.5), 0.25), 0, k.sub(size, 1));
      const low = k.floor(at);
      return { low: k.toU32(low), high: k.toU32(k.min(k.add(low, 1), k.sub(size, 1))), part: k.sub(at, low) };
    };
    const [row, column] = [place(1, height), place(2, width)];
    const pixel = (y: typeof row.low, c: typeof row.low) => k.gather(x, [k.index(0), y, c], 0);
    const mix = (a: typeof row.part, b: typeof row.part, part: typeof row.part) => k.add(a, k.mul(k.sub(b, a), part));
    const upper = mix(pixel(row.low, column.low), pixel(row.low, column.high), column.part);
    const lower = mix(pixel(row.high, column.low), pixel(row.high, column.high), column.part);
    return { y: mix(upper, lower, row.part) };
  },
);

/** Twice as large. */
function bilinear(image: Image): KernelCase {
  const { n, c, hw } = image;
  return kernelCase('upsample_bilinear_2x', imageName(image), {
    kernel: BILINEAR,
    ...{ shape: [n * c, 2 * hw, 2 * hw], inputs: { x: { shape: [n * c, hw, hw] } } },
    ...{ params: { height: hw, width: hw }, flops: 8 },
    expected({ read, point }) {
      const [plane, ...place] = point as [number, number, number];
      const [y, x] = place.map((at) => Math.min(Math.max(at / 2 - 0.25, 0), hw - 1)) as [number, number];
      const [y0, x0] = [Math.floor(y), Math.floor(x)];
      const pixel = (i: number, j: number) => read('x', (plane * hw + Math.min(i, hw - 1)) * hw + Math.min(j, hw - 1));
      const line = (i: number) => pixel(i, x0) + (pixel(i, x0 + 1) - pixel(i, x0)) * (x - x0);
      return line(y0) + (line(y0 + 1) - line(y0)) * (y - y0);
    },
    absolute: 1e-5,
  });
}
