// @ts-check
// Calls of kernels as programs write them, in the shapes that get different code, and the kernels of such calls beside those
// of all other families. It reads what was built: programs that start without a test runner use it too.
import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import { binaryKernel, checkedRun, defineKernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';

/** @typedef {Omit<import('@concord/backend-core/kernel').RunShape, 'kernel'> & { readonly kernel: import('@concord/backend-core/kernel').Kernel }} Sample */
/** @typedef {import('../../src/kernels/kernel.ts').Kernel} Kernel */

const built = new URL('../../dist/kernels/', import.meta.url);
/** @type {typeof import('../../src/kernels/families.ts')} */
const families = await import(new URL('families.js', built).href);
/** @type {typeof import('../../src/kernels/run/plan.ts')} */
const { planRun } = await import(new URL('run/plan.js', built).href);
/** @type {typeof import('../../src/kernels/recorder.ts')} */
const { fakeSpan } = await import(new URL('recorder.js', built).href);

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
  const places = [0, 1, 2].map(
    (step) => (/** @type {number} */ axis) => k.sub(k.add(k.mul(k.index(axis), 2), step), 1),
  );
  const taps = places.flatMap((row) =>
    places.map((column) => k.gather(x, [k.index(-3), row(-2), column(-1)], -Infinity)),
  );
  return { y: taps.reduce((a, b) => k.max(a, b)) };
});

const argmax = defineKernel('argmax', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('argmax', x) }));

const cumsum = defineKernel('cumsum', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.scan('sum', x) }));

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

const ROWS = [
  [4096, 12],
  [4096, 256],
  [4096, 1023],
  [8192, 1024],
  [2048, 8192],
  [1, 2 ** 22],
];

/** @type {readonly Sample[]} */
export const SAMPLES = [
  ...UNARY_OPS.map((op) => ({ kernel: unaryKernel(op), shape: [2 ** 20] })),
  ...BINARY_OPS.map((op) => ({ kernel: binaryKernel(op), shape: [2 ** 20] })),
  ...REDUCE_OPS.map((op) => ({ kernel: reduceKernel(op), shape: [8192, 1024], folded: 1 })),
  .../** @type {const} */ (['sum', 'max']).flatMap((op) => [
    ...ROWS.map((shape) => ({ kernel: reduceKernel(op), shape, folded: 1 })),
    columns(reduceKernel(op), 2048, 1024),
    columns(reduceKernel(op), 2 ** 19, 16),
    columns(reduceKernel(op), 3, 2 ** 20),
  ]),
  ...ROWS.flatMap((shape) => [
    { kernel: softmax, shape, folded: 1 },
    {
      kernel: layerNorm,
      shape,
      folded: 1,
      inputs: { scale: { strides: [0, 1] }, shift: { strides: [0, 1] } },
    },
    { kernel: argmax, shape, folded: 1 },
    { kernel: cumsum, shape, folded: 1 },
  ]),
  { kernel: biasGelu, shape: [4096, 3072], inputs: { bias: { strides: [0, 1] } } },
  { kernel: copy, shape: [2048, 2048], inputs: { x: { strides: [1, 2048] } } },
  { kernel: copy, shape: [8, 12, 512, 64], inputs: { x: { strides: [393_216, 64, 768, 1] } } },
  .../** @type {const} */ (['f16', 'bf16']).flatMap((dtype) => [
    { kernel: copy, shape: [2 ** 20], outputs: { y: { dtype } } },
    { kernel: copy, shape: [2 ** 20], inputs: { x: { dtype } } },
    { kernel: softmax, shape: [4096, 1024], folded: 1, inputs: { x: { dtype } }, outputs: { y: { dtype } } },
  ]),
  { kernel: gatherRows, shape: [8192, 768], inputs: { table: { shape: [1000, 768] }, ids: { strides: [1, 0] } } },
  { kernel: maxPool, shape: [64, 56, 56], inputs: { x: { shape: [64, 112, 112] } } },
  { kernel: dropout, shape: [4096, 1024] },
  { kernel: quantize, shape: [2 ** 20], outputs: { y: { dtype: 'i8' } } },
];

/**
 * A reduction whose rows are columns in memory.
 *
 * @param {Sample['kernel']} kernel
 * @param {number} count
 * @param {number} length
 * @returns {Sample}
 */
function columns(kernel, count, length) {
  return { kernel, shape: [count, length], folded: 1, inputs: { input: { strides: [1, count] } } };
}

/** The checked geometry of a sample. @param {Sample} sample */
export function checkedSample({ kernel, shape, folded, inputs = {}, outputs = {} }) {
  return checkedRun(kernel, { shape, ...(folded === undefined ? {} : { folded }), inputs, outputs });
}

/**
 * Every kernel that can run on such a device; of `run`, which has as many as there are graphs, those of the samples.
 *
 * @param {import('../../src/kernels/recorder.ts').DeviceTraits} traits
 * @returns {readonly Kernel[]}
 */
export function allKernels(traits) {
  const kernels = new Set(families.allKernels(traits));
  /** @type {import('../../src/kernels/recorder.ts').Recorder} */
  const recorder = {
    traits,
    launch: ({ kernel }) => void kernels.add(kernel),
    scratch: fakeSpan,
    copy: () => undefined,
  };
  for (const sample of SAMPLES) {
    const geometry = checkedSample(sample);
    const spans = [...geometry.inputs, ...geometry.outputs].map(({ extent, dtype }) =>
      fakeSpan(extent * BYTES_OF[dtype]),
    );
    planRun({ geometry, spans }, recorder);
  }
  return [...kernels];
}
