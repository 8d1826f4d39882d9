import { checkedRun, defineKernel, type Kernel, reduceKernel, type RunShape } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { elements, runInline } from '../../../test/support/run-inline.ts';
import type { WasmTraits } from '../kernel.ts';

// Each way in which operands can lie, and each way in which the work is shared out.

/** A call, the traits it runs with, and the outputs that share the memory of an input. */
interface Sample extends Omit<RunShape, 'kernel'> {
  readonly kernel: Kernel;
  readonly params?: Readonly<Record<string, number>>;
  readonly traits?: Partial<WasmTraits>;
  readonly inPlaceOf?: readonly number[];
  /** Indices of gather inputs are below this. */
  readonly most?: number;
}

const add = defineKernel('add', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({ y: k.add(a, b) }));
const copy = defineKernel('copy', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.spread(x) }));
const integers = defineKernel('integers', { inputs: { x: 'i32', u: 'u32' } }, ({ x, u }, k) => ({
  y: k.mul(x, 3),
  z: k.shl(u, k.toU32(x)),
}));
const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});
const layerNorm = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', scale: 'f32', extra: { type: 'f32', level: 'row' } }, params: { eps: 'f32' } },
  ({ x, scale, extra, eps }, k) => {
    const centred = k.sub(x, k.fold('mean', x));
    const variance = k.fold('mean', k.mul(centred, centred));
    const factor = k.add(k.rsqrt(k.add(variance, eps)), extra);
    return { y: k.mul(k.mul(centred, factor), scale), variance };
  },
);
const argmax = defineKernel('argmax', { inputs: { x: 'f32' } }, ({ x }, k) => ({
  y: k.fold('argmax', x),
  z: k.fold('count', k.lt(x, 0)),
}));
const places = defineKernel('places', { inputs: { x: 'u32' } }, ({ x }, k) => ({
  y: k.add(x, k.add(k.mul(k.index(-1), 100), k.add(k.index(0), k.extent(0)))),
}));
const rowPlaces = defineKernel('rowPlaces', { inputs: { x: 'u32' } }, ({ x }, k) => ({
  y: k.add(k.fold('sum', x), k.rowIndex(-1)),
  z: k.mul(x, k.index(-1)),
}));
const rows = defineKernel('rows', { inputs: { x: 'f32', r: { type: 'f32', level: 'row' } } }, ({ x, r }, k) => ({
  y: k.add(x, r),
  z: k.mul(r, 2),
}));
const gather = defineKernel(
  'gather',
  { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, ids: 'u32' } },
  ({ table, ids }, k) => ({ y: k.gather(table, [ids, k.index(-1)], -1) }),
);
const signed = defineKernel(
  'signed',
  { inputs: { table: { type: 'i32', access: 'gather', rank: 1 }, ids: 'i32' } },
  ({ table, ids }, k) => ({ y: k.gather(table, [k.sub(ids, 5)], 7) }),
);
const two = defineKernel('two', { inputs: { a: 'f32', b: 'f32' } }, ({ a, b }, k) => ({
  sum: k.add(a, b),
  difference: k.sub(a, b),
}));
const dropout = defineKernel('dropout', { inputs: { x: 'f32' }, params: { seed: 'u32' } }, ({ x, seed }, k) => ({
  y: k.select(k.lt(k.random(seed, k.index(-1), 3), 0x8000_0000), x, 0),
}));

const sum = reduceKernel('sum');
const mean = reduceKernel('mean');
const max = reduceKernel('max');

const SAMPLES: Readonly<Record<string, Sample>> = {
  'one point': { kernel: add, shape: [] },
  'fewer than a vector': { kernel: add, shape: [3] },
  'a rest': { kernel: add, shape: [4099] },
  'several segments': { kernel: copy, shape: [20_003] },
  'rows repeated': { kernel: add, shape: [5, 70], inputs: { b: { strides: [0, 1] } } },
  'columns repeated': { kernel: add, shape: [5, 70], inputs: { b: { strides: [1, 0] } } },
  'one value repeated': { kernel: add, shape: [5, 70], inputs: { a: { strides: [0, 0] } } },
  'a transposed input': { kernel: copy, shape: [33, 18], inputs: { x: { strides: [1, 33] } } },
  'a transposed output': { kernel: copy, shape: [33, 18], outputs: { y: { strides: [1, 33] } } },
  'a transposed input of many segments': {
    kernel: copy,
    shape: [3, 20, 70],
    inputs: { x: { strides: [1400, 1, 20] } },
  },
  'lines too short for vectors': { kernel: add, shape: [700, 3], inputs: { b: { strides: [0, 1] } } },
  'indices of short lines': { kernel: places, shape: [41, 2, 3], inputs: { x: { strides: [6, 3, 1] } } },
  'an output with gaps': { kernel: copy, shape: [7, 9], outputs: { y: { strides: [40, 3] } } },
  'rank 5': {
    kernel: add,
    shape: [2, 3, 2, 5, 6],
    inputs: { a: { strides: [1, 2, 6, 12, 60] }, b: { strides: [0, 6, 0, 18, 1] } },
  },
  'in place of both': { kernel: two, shape: [37], inPlaceOf: [1, 0] },
  'rows in place': { kernel: softmax, shape: [5, 131], folded: 1, inPlaceOf: [0] },
  'f16 in, bf16 out': { kernel: copy, shape: [50], inputs: { x: { dtype: 'f16' } }, outputs: { y: { dtype: 'bf16' } } },
  'bf16 in, f16 out, strided': {
    kernel: copy,
    shape: [9, 11],
    inputs: { x: { dtype: 'bf16', strides: [1, 9] } },
    outputs: { y: { dtype: 'f16', strides: [22, 2] } },
  },
  bytes: {
    kernel: integers,
    shape: [6, 23],
    inputs: { x: { dtype: 'i8' }, u: { dtype: 'u8', strides: [0, 1] } },
    outputs: { y: { dtype: 'i8' }, z: { dtype: 'u8' } },
  },
  'bytes apart': {
    kernel: integers,
    shape: [6, 23],
    inputs: { x: { dtype: 'i8', strides: [1, 6] }, u: { dtype: 'u8', strides: [1, 7] } },
    outputs: { y: { dtype: 'i8', strides: [1, 7] }, z: { dtype: 'u8', strides: [50, 2] } },
  },
  indices: { kernel: places, shape: [6, 5, 19], inputs: { x: { strides: [19, 0, 1] } } },
  'row indices': { kernel: rowPlaces, shape: [6, 5, 19], folded: 1 },
  'row indices across': { kernel: rowPlaces, shape: [6, 21, 19], folded: 1, inputs: { x: { strides: [399, 1, 21] } } },
  'rows without folds': { kernel: rows, shape: [6, 5, 9], folded: 2 },
  'random numbers': { kernel: dropout, shape: [3, 41], params: { seed: 99 } },
  'a gather of rows': {
    kernel: gather,
    shape: [7, 10],
    most: 9,
    inputs: { table: { shape: [8, 10] }, ids: { strides: [1, 0] } },
  },
  'a gather apart': {
    kernel: gather,
    shape: [7, 11],
    most: 9,
    inputs: { table: { shape: [8, 10], strides: [1, 8], dtype: 'f16' }, ids: {} },
  },
  'a gather of nothing': { kernel: gather, shape: [2, 5], inputs: { table: { shape: [0, 3] } } },
  'negative indices': { kernel: signed, shape: [40], most: 30, inputs: { table: { shape: [20], dtype: 'i8' } } },
  'short rows': { kernel: softmax, shape: [9, 3], folded: 1 },
  'short rows in wide blocks': { kernel: sum, shape: [37, 5], folded: 1 },
  'a gather of long rows': {
    kernel: gather,
    shape: [7, 13],
    most: 9,
    inputs: { table: { shape: [8, 10] }, ids: { strides: [1, 0] } },
  },
  'rows of several lines': {
    kernel: layerNorm,
    shape: [3, 4, 6, 21],
    folded: 2,
    inputs: { x: { strides: [600, 150, 23, 1] }, scale: { strides: [0, 0, 21, 1] } },
    params: { eps: 1e-5 },
  },
  'softmax of rows of several lines': {
    kernel: softmax,
    shape: [3, 5, 30],
    folded: 2,
    inputs: { x: { strides: [200, 37, 1] } },
  },
  'rows across': {
    kernel: softmax,
    shape: [2, 21, 13],
    folded: 1,
    inputs: { x: { strides: [273, 1, 21] } },
    outputs: { y: { strides: [273, 1, 21] } },
  },
  'wide rows across': { kernel: sum, shape: [35, 12], folded: 1, inputs: { input: { strides: [1, 35] } } },
  'rows of nothing': { kernel: mean, shape: [5, 0], folded: 1 },
  'argmax of several lines': { kernel: argmax, shape: [3, 5, 30], folded: 2, inputs: { x: { strides: [200, 37, 1] } } },
  'argmax across': { kernel: argmax, shape: [18, 40], folded: 1, inputs: { x: { strides: [1, 18] } } },
  'long rows': { kernel: sum, shape: [2, 9001], folded: 1, traits: { threads: 1 } },
  'long rows across': {
    kernel: mean,
    shape: [5, 1501],
    folded: 1,
    inputs: { input: { strides: [1, 5] } },
    traits: { threads: 1 },
  },
  'a row in parts': { kernel: sum, shape: [66_001], folded: 1, traits: { threads: 4 } },
  'argmax in parts': { kernel: argmax, shape: [2, 33_007], folded: 1 },
  'softmax in parts': { kernel: softmax, shape: [1, 33_005], folded: 1, inPlaceOf: [0] },
  'columns in parts': { kernel: max, shape: [6, 9001], folded: 1, inputs: { input: { strides: [1, 6] } } },
  'shared memory': { kernel: softmax, shape: [5, 66], folded: 1, traits: { isShared: true } },
};

/** Values that tell places apart, and of a float are not exact. */
function filled(name: string, dtype: Parameters<typeof elements>[0], length: number, most: number) {
  const values = elements(dtype, length);
  const isIndex = name === 'ids';
  for (let at = 0; at < length; at++) {
    const random = Math.imul(at + name.length, 0x9e37_79b1) >>> 0;
    if (isIndex) values[at] = random % (most + 1);
    else if (dtype === 'f32') values[at] = random / 2 ** 30 - 2;
    // Numbers about 1, with either sign.
    else if (dtype === 'f16') values[at] = 0x3800 + (random % 0x800) + (random & 0x8000);
    else if (dtype === 'bf16') values[at] = 0x3f00 + (random % 0x100) + (random & 0x8000);
    else values[at] = random >>> 5;
  }
  return values;
}

function runSample({ kernel, params = {}, traits, inPlaceOf, most = 0, ...shape }: Sample): readonly string[] {
  const geometry = checkedRun(kernel, { inputs: {}, outputs: {}, ...shape });
  const inputs = Object.fromEntries(
    geometry.inputs.map(({ name, dtype, extent }) => [name, filled(name, dtype, extent, most)]),
  );
  return runInline(geometry, { inputs, params }, traits, inPlaceOf);
}

it.each(Object.keys(SAMPLES))('%s', (name) => {
  expect(runSample(SAMPLES[name] as Sample)).toEqual([]);
});
