import { defineKernel, type Kernel } from '@concord/backend-core/kernel';

/** (x - mean) / sqrt(variance + eps), scaled and shifted. */
export const layerNorm: Kernel = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', scale: 'f32', shift: 'f32' }, params: { eps: 'f32' } },
  ({ x, scale, shift, eps }, k) => {
    const d = k.sub(x, k.fold('mean', x));
    const r = k.rsqrt(k.add(k.fold('mean', k.mul(d, d)), eps));
    return { y: k.add(k.mul(k.mul(d, r), scale), shift) };
  },
);

/** x / sqrt(mean square + eps), scaled. */
export const rmsNorm: Kernel = defineKernel(
  'rmsNorm',
  { inputs: { x: 'f32', scale: 'f32' }, params: { eps: 'f32' } },
  ({ x, scale, eps }, k) => {
    const r = k.rsqrt(k.add(k.fold('mean', k.mul(x, x)), eps));
    return { y: k.mul(k.mul(x, r), scale) };
  },
);

/** The sum of a row. */
export const rowSum: Kernel = defineKernel('sum', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('sum', x) }));
/** The mean of a row. */
export const rowMean: Kernel = defineKernel('mean', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('mean', x) }));
/** The greatest element of a row. */
export const rowMax: Kernel = defineKernel('max', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('max', x) }));
/** The place of a row's greatest element. */
export const argmax: Kernel = defineKernel('argmax', { inputs: { x: 'f32' } }, ({ x }, k) => ({
  y: k.fold('argmax', x),
}));
/** log softmax at the first column. */
export const crossEntropy: Kernel = defineKernel(
  'crossEntropy',
  { inputs: { x: 'f32', first: { type: 'f32', level: 'row' } } },
  ({ x, first }, k) => {
    const most = k.fold('max', x);
    return { y: k.sub(k.sub(first, most), k.log(k.fold('sum', k.exp(k.sub(x, most))))) };
  },
);

/** The element itself. */
export const copy: Kernel = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }) => ({ y: x }));
/** e^x. */
export const exp: Kernel = defineKernel('exp', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.exp(x) }));
/** tanh x. */
export const tanh: Kernel = defineKernel('tanh', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.tanh(x) }));
/** a + b. */
export const add: Kernel = defineKernel('add', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
  y: k.add(a, b),
}));
/** gelu(x + bias). */
export const biasGelu: Kernel = defineKernel('biasGelu', { inputs: { x: 'f32', b: 'f32' } }, ({ x, b }, k) => ({
  y: k.gelu(k.add(x, b)),
}));
/** relu(x + bias) + residual. */
export const biasReluResidual: Kernel = defineKernel(
  'biasReluResidual',
  { inputs: { x: 'f32', b: 'f32', r: 'f32' } },
  ({ x, b, r }, k) => ({ y: k.add(k.max(k.add(x, b), 0), r) }),
);
/** relu(x scale + shift). */
export const batchNormRelu: Kernel = defineKernel(
  'batchNormRelu',
  { inputs: { x: 'f32', s: 'f32', t: 'f32' } },
  ({ x, s, t }, k) => ({ y: k.max(k.add(k.mul(x, s), t), 0) }),
);
/** Rows of a table. */
export const gatherRows: Kernel = defineKernel(
  'gatherRows',
  { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, id: 'u32' } },
  ({ table, id }, k) => ({ y: k.gather(table, [id, k.index(-1)], 0) }),
);

/** The greatest of 3 x 3 neighbours, every second one, with a border of one. Image [planes, height, width]. */
export const maxPool: Kernel = defineKernel(
  'maxPool',
  { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } } },
  ({ x }, k) => {
    const at = (axis: number, tap: number) => k.add(k.mul(k.toI32(k.index(axis)), 2), tap - 1);
    const taps = [0, 1, 2].flatMap((i) =>
      [0, 1, 2].map((j) => k.gather(x, [k.index(0), at(1, i), at(2, j)], Number.NEGATIVE_INFINITY)),
    );
    return { y: taps.reduce((most, tap) => k.max(most, tap)) };
  },
);

/** Twice as large, between the four nearest pixels. Image [planes, height, width]. */
export const bilinear: Kernel = defineKernel(
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
