import { defineKernel, type Kernel } from '@concord/backend-core/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import type { DeviceTraits } from '../src/kernels/recorder.ts';
import { integers } from './support/device-values.ts';
import { runOnDevice } from './support/run-on-device.ts';

let client: WebGpuClient;
beforeAll(async () => {
  client = await WebGpuClient.open();
});
afterAll(() => client.dispose());

const GPU: Partial<DeviceTraits> = { isSoftware: false };

function noise(length: number, seed = 1): Float32Array {
  return Float32Array.from({ length }, (_, i) => ((Math.imul(i + seed, 0x9e3779b1) >>> 8) % 1000) / 250 - 2);
}

/** Runs a kernel on packed float32 inputs. */
function run(
  kernel: Kernel,
  shape: readonly number[],
  folded: number,
  data: readonly Float32Array[],
  strides: readonly (readonly number[] | undefined)[] = [],
  traits: Partial<DeviceTraits> = {},
  params: readonly number[] = [],
): Promise<number[][]> {
  const views = kernel.inputs.map(({ name }, i) => [name, strides[i] === undefined ? {} : { strides: strides[i] }]);
  const domain = { shape, ...(folded > 0 ? { folded } : {}), inputs: Object.fromEntries(views) };
  return runOnDevice(client, kernel, { ...domain, data, params, traits });
}

function expectClose(got: readonly number[], wanted: readonly number[], tolerance = 1e-5): void {
  expect(got.length).toBe(wanted.length);
  let worst = 0;
  let at = -1;
  for (let i = 0; i < got.length; i++) {
    const error = Math.abs((got[i] as number) - (wanted[i] as number)) / Math.max(1e-3, Math.abs(wanted[i] as number));
    if (!(error <= worst)) [worst, at] = [Number.isNaN(error) ? Infinity : error, i];
  }
  expect(worst, `${got[at]} for ${wanted[at]} at ${at}`).toBeLessThan(tolerance);
}

const expKernel = defineKernel('exp', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.exp(x) }));
const softmax = defineKernel('softmax', { inputs: { x: 'f32' } }, ({ x }, k) => {
  const e = k.exp(k.sub(x, k.fold('max', x)));
  return { y: k.div(e, k.fold('sum', e)) };
});
const sumKernel = defineKernel('sum', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.fold('sum', x) }));
const layerNorm = defineKernel(
  'layerNorm',
  { inputs: { x: 'f32', g: 'f32', b: 'f32' }, params: { eps: 'f32' } },
  ({ x, g, b, eps }, k) => {
    const d = k.sub(x, k.fold('mean', x));
    const r = k.rsqrt(k.add(k.fold('mean', k.mul(d, d)), eps));
    return { y: k.add(k.mul(k.mul(d, r), g), b) };
  },
);

function softmaxOf(x: Float32Array, rows: number, columns: number, stride = columns, step = 1): number[] {
  const y = Array.from({ length: rows * columns }, () => 0);
  for (let r = 0; r < rows; r++) {
    let max = -Infinity;
    let sum = 0;
    for (let c = 0; c < columns; c++) max = Math.max(max, x[r * stride + c * step] as number);
    for (let c = 0; c < columns; c++) sum += Math.exp((x[r * stride + c * step] as number) - max);
    for (let c = 0; c < columns; c++)
      y[r * stride + c * step] = Math.exp((x[r * stride + c * step] as number) - max) / sum;
  }
  return y;
}

describe.each([
  ['as it is', {}],
  ['as a GPU', GPU],
  ['as a GPU without sub-groups', { ...GPU, hasSubgroups: false, subgroupSize: 0, maxInvocations: 256 }],
] as const)('%s', (_, traits) => {
  it.each([[1], [7], [1000], [1024], [4099]])('exp of %d', async (n) => {
    const x = noise(n);
    expectClose((await run(expKernel, [n], 0, [x], [], traits))[0] as number[], [...x].map(Math.exp));
  });

  it.each([
    [64, 64],
    [100, 36],
    [33, 77],
    [17, 3],
  ])('%d x %d transposed, times two', async (rows, columns) => {
    const x = noise(rows * columns);
    const [y] = await run(twice, [columns, rows], 0, [x], [[1, columns]], traits);
    expect(y).toEqual(
      transposed(
        [...x].map((v) => 2 * v),
        rows,
        columns,
      ),
    );
  });

  it.each([
    [3, 4],
    [5, 7],
    [33, 32],
    [9, 128],
    [10, 200],
    [3, 1023],
    [3, 1024],
    [2, 4096],
    [2, 8191],
    [2, 50257],
    [1, 262144],
    [1, 100003],
  ])('softmax of %d rows of %d', async (rows, columns) => {
    const x = noise(rows * columns);
    const [y] = await run(softmax, [rows, columns], 1, [x], [], traits);
    expectClose(y as number[], softmaxOf(x, rows, columns));
  });

  it.each([
    [3, 5],
    [100, 64],
    [7, 3000],
    [4099, 12],
  ])('softmax down %d of %d columns', async (rows, columns) => {
    const x = noise(rows * columns);
    const geometry = [columns, rows];
    const [y] = await run(softmaxAcross, geometry, 1, [x], [[1, columns]], traits);
    expectClose(y as number[], transposed(softmaxOf(x, columns, rows, 1, columns), rows, columns));
  });

  it.each([
    [5, 8],
    [3, 1000],
    [1, 1 << 20],
    [300, 2048],
  ])('sum of %d rows of %d', async (rows, columns) => {
    const x = Float32Array.from(integers(rows * columns, 1));
    const [y] = await run(sumKernel, [rows, columns], 1, [x], [], traits);
    const wanted = Array.from({ length: rows }, (__, r) =>
      x.subarray(r * columns, (r + 1) * columns).reduce((sum, v) => sum + v, 0),
    );
    expect(y).toEqual(wanted);
  });

  it.each([
    [3, 8],
    [1000, 64],
    [40000, 20],
    [50, 7],
  ])('sum down %d of %d columns', async (rows, columns) => {
    const x = Float32Array.from(integers(rows * columns, 1));
    const [y] = await run(sumKernel, [columns, rows], 1, [x], [[1, columns]], traits);
    const wanted = Array.from({ length: columns }, () => 0);
    for (let i = 0; i < x.length; i++) wanted[i % columns] = (wanted[i % columns] as number) + (x[i] as number);
    expect(y).toEqual(wanted);
  });

  it.each([
    [4, 768],
    [3, 1024],
    [2, 100],
  ])('layerNorm of %d rows of %d', async (rows, columns) => {
    const [x, g, b] = [noise(rows * columns), noise(columns, 5), noise(columns, 9)] as const;
    const [y] = await run(layerNorm, [rows, columns], 1, [x, g, b], [undefined, [0, 1], [0, 1]], traits, [1e-5]);
    const wanted: number[] = [];
    for (let r = 0; r < rows; r++) {
      const row = [...x.subarray(r * columns, (r + 1) * columns)];
      const mean = row.reduce((sum, v) => sum + v, 0) / columns;
      const variance = row.reduce((sum, v) => sum + (v - mean) ** 2, 0) / columns;
      row.forEach((v, c) =>
        wanted.push(((v - mean) / Math.sqrt(variance + 1e-5)) * (g[c] as number) + (b[c] as number)),
      );
    }
    expectClose(y as number[], wanted, 1e-3);
  });
});

const twice = defineKernel('twice', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.mul(x, 2) }));
const softmaxAcross = softmax;
/** The packed output [columns, rows] of a transposed view. */
function transposed(y: readonly number[], rows: number, columns: number): number[] {
  return Array.from({ length: y.length }, (_, i) => y[(i % rows) * columns + Math.floor(i / rows)] as number);
}
