import {
  binaryKernel,
  type CheckedRun,
  checkedRun,
  defineKernel,
  type Kernel,
  reduceKernel,
  type RunShape,
  unaryKernel,
} from '@concord/backend-core/kernel';
import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';

/** A call that stands for others in checks of what is generated. */
type Sample = Omit<RunShape, 'kernel'> & { readonly kernel: Kernel };

const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});

const layerNorm = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', scale: 'f32', shift: 'f32' }, params: { eps: 'f32' } },
  ({ x, scale, shift, eps }, k) => {
    const centred = k.sub(x, k.fold('mean', x));
    const variance = k.name('variance', k.fold('mean', k.mul(centred, centred)));
    return { y: k.add(k.mul(k.mul(centred, k.rsqrt(k.add(variance, eps))), scale), shift) };
  },
);

const biasGelu = defineKernel('biasGelu', { inputs: { x: 'f32', bias: 'f32' } }, ({ x, bias }, k) => ({
  y: k.gelu(k.add(x, bias)),
}));

const copy = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.spread(x) }));

const gatherRows = defineKernel(
  'gatherRows',
  { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, ids: 'u32' } },
  ({ table, ids }, k) => ({ y: k.gather(table, [ids, k.index(-1)], 0) }),
);

const maxPool = defineKernel('maxPool', { inputs: { x: { type: 'f32', access: 'gather', rank: 3 } } }, ({ x }, k) => {
  const places = [0, 1, 2].map((step) => (axis: number) => k.sub(k.add(k.mul(k.index(axis), 2), step), 1));
  const taps = places.flatMap((row) =>
    places.map((column) => k.gather(x, [k.index(-3), row(-2), column(-1)], -Infinity)),
  );
  return { y: taps.reduce((a, b) => k.max(a, b)) };
});

const argmax = defineKernel('argmax', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('argmax', x) }));

const dropout = defineKernel(
  'dropout',
  { inputs: { x: 'f32' }, params: { seed: 'u32', keep: 'f32' } },
  ({ x, seed, keep }, k) => {
    const draw = k.mul(k.toF32(k.shr(k.random(seed, k.index(-1), k.index(0)), 8)), 2 ** -24);
    return { y: k.select(k.lt(draw, keep), k.div(x, keep), 0) };
  },
);

const quantize = defineKernel('quantize', { inputs: { x: 'f32' }, params: { scale: 'f32' } }, ({ x, scale }, k) => ({
  y: k.toI32(k.round(k.div(x, scale))),
}));

const ROWS: readonly (readonly number[])[] = [
  [4096, 12],
  [4096, 256],
  [4096, 1023],
  [8192, 1024],
  [2048, 8192],
  [1, 2 ** 22],
];

/** Calls of kernels as programs write them, in the shapes that get different code. */
export const SAMPLES: readonly Sample[] = [
  ...UNARY_OPS.map((op): Sample => ({ kernel: unaryKernel(op), shape: [2 ** 20] })),
  ...BINARY_OPS.map((op): Sample => ({ kernel: binaryKernel(op), shape: [2 ** 20] })),
  ...REDUCE_OPS.map((op): Sample => ({ kernel: reduceKernel(op), shape: [8192, 1024], folded: 1 })),
  ...(['sum', 'max'] as const).flatMap((op): Sample[] => [
    ...ROWS.map((shape) => ({ kernel: reduceKernel(op), shape, folded: 1 })),
    columns(reduceKernel(op), 2048, 1024),
    columns(reduceKernel(op), 2 ** 19, 16),
    columns(reduceKernel(op), 3, 2 ** 20),
  ]),
  ...ROWS.flatMap((shape): Sample[] => [
    { kernel: softmax, shape, folded: 1 },
    {
      kernel: layerNorm,
      shape,
      folded: 1,
      inputs: { scale: { strides: [0, 1] }, shift: { strides: [0, 1] } },
    },
    { kernel: argmax, shape, folded: 1 },
  ]),
  { kernel: biasGelu, shape: [4096, 3072], inputs: { bias: { strides: [0, 1] } } },
  { kernel: copy, shape: [2048, 2048], inputs: { x: { strides: [1, 2048] } } },
  { kernel: copy, shape: [8, 12, 512, 64], inputs: { x: { strides: [393_216, 64, 768, 1] } } },
  ...(['f16', 'bf16'] as const).flatMap((dtype): Sample[] => [
    { kernel: copy, shape: [2 ** 20], outputs: { y: { dtype } } },
    { kernel: copy, shape: [2 ** 20], inputs: { x: { dtype } } },
    { kernel: softmax, shape: [4096, 1024], folded: 1, inputs: { x: { dtype } }, outputs: { y: { dtype } } },
  ]),
  { kernel: gatherRows, shape: [8192, 768], inputs: { table: { shape: [1000, 768] }, ids: { strides: [1, 0] } } },
  { kernel: maxPool, shape: [64, 56, 56], inputs: { x: { shape: [64, 112, 112] } } },
  { kernel: dropout, shape: [4096, 1024] },
  { kernel: quantize, shape: [2 ** 20], outputs: { y: { dtype: 'i8' } } },
];

/** A reduction whose rows are columns in memory. */
function columns(kernel: Kernel, count: number, length: number): Sample {
  return { kernel, shape: [count, length], folded: 1, inputs: { input: { strides: [1, count] } } };
}

/** The checked geometry of a sample. */
export function checkedSample({ kernel, shape, folded, inputs = {}, outputs = {} }: Sample): CheckedRun {
  return checkedRun(kernel, { shape, ...(folded === undefined ? {} : { folded }), inputs, outputs });
}
