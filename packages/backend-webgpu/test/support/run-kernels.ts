import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import { binaryKernel, defineKernel, type Kernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';
import type { Kernel as DeviceKernel } from '../../src/kernels/kernel.ts';
import type { DeviceTraits } from '../../src/kernels/recorder.ts';
import { type PlannedRun, plannedRun } from './planned-run.ts';

export const softmax: Kernel = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});
export const double: Kernel = defineKernel('double', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, 2) }));
export const sums: Kernel = defineKernel('sums', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('sum', x) }));
export const places: Kernel = defineKernel('places', { inputs: { x: 'f32' } }, ({ x }, k) => ({
  most: k.fold('argmax', x),
  mean: k.fold('mean', x),
}));
export const lookUp: Kernel = defineKernel(
  'lookUp',
  { inputs: { table: { type: 'f32', access: 'gather', rank: 2 }, at: 'u32' } },
  ({ table, at }, k) => ({ y: k.gather(table, [at, k.index(-1)], 0) }),
);

const NARROW = ['f16', 'bf16'] as const;

/** Geometries of many kinds for kernels with one input `x` and one output `y`. */
export const GEOMETRIES: readonly PlannedRun[] = [
  { shape: [7] },
  { shape: [1024] },
  { shape: [33, 129] },
  { shape: [64, 128], inputs: { x: { strides: [1, 64] } } },
  { shape: [5, 6, 7, 8], inputs: { x: { strides: [336, 1, 48, 6] } } },
  { shape: [64, 256], inputs: { x: { strides: [0, 1] } } },
  ...NARROW.map((dtype) => ({ shape: [64, 256], inputs: { x: { dtype } }, outputs: { y: { dtype } } })),
  { shape: [33, 77], outputs: { y: { dtype: 'f16' as const, strides: [80, 1] } } },
  { shape: [9, 5, 3], inputs: { x: { strides: [500, 20, 2] } } },
];

/** The same with the last axes folded: short rows, long ones, few, many, and columns. */
export const FOLDED: readonly PlannedRun[] = [
  ...[3, 31, 128, 1000, 1023, 8192, 50_257, 2 ** 20].map((length) => ({ shape: [4, length], folded: 1 })),
  { shape: [100_000, 64], folded: 1 },
  { shape: [1, 2 ** 24], folded: 1 },
  { shape: [1024, 300], folded: 1, inputs: { x: { strides: [1, 1024] } } },
  { shape: [20, 30, 40], folded: 2 },
  { shape: [512, 512], folded: 1, inputs: { x: { dtype: 'f16' } } },
];

/** The kernels that a device gets for built-in graphs and some others. */
export function runKernels(traits: DeviceTraits): readonly DeviceKernel[] {
  const made = new Set<DeviceKernel>();
  const plan = (kernel: Kernel, asked: PlannedRun): void => {
    for (const launch of plannedRun(kernel, asked, traits).launches) made.add(launch.kernel);
  };
  for (const op of UNARY_OPS) for (const shape of [[1000], [1001]]) plan(unaryKernel(op), { shape });
  for (const op of BINARY_OPS) for (const shape of [[1000], [1001]]) plan(binaryKernel(op), { shape });
  for (const op of REDUCE_OPS)
    for (const shape of [
      [9, 1000],
      [3, 70_001],
    ])
      plan(reduceKernel(op), { shape, folded: 1 });
  for (const asked of GEOMETRIES) plan(double, asked);
  for (const asked of FOLDED) for (const kernel of [softmax, sums, places]) plan(kernel, withNames(kernel, asked));
  plan(lookUp, { shape: [100, 64], inputs: { table: { shape: [1000, 64] }, at: { strides: [1, 0] } } });
  plan(lookUp, { shape: [100, 63], inputs: { table: { shape: [1000, 63] }, at: { strides: [1, 0] } } });
  return [...made];
}

/** A geometry that names `y` only where the kernel has it. */
function withNames({ outputs }: Kernel, asked: PlannedRun): PlannedRun {
  const { outputs: views, ...rest } = asked;
  return outputs.some(({ name }) => name === 'y') && views !== undefined ? asked : rest;
}
