import { type DevicePtr, upload } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';
import { VARIANT_IDS as MAPS } from '../src/kernels/map/plan-map.ts';
import { VARIANT_IDS as ROWS } from '../src/kernels/rows/plan-rows.ts';
import { double, places, softmax, sums } from './support/run-kernels.ts';

// Which variant runs depends on the device and on the shape. Here each runs on the device at hand, as if it was a GPU.

const backend = new WebGpuBackend();
beforeAll(async () => {
  const open = WebGpuClient.open.bind(WebGpuClient);
  WebGpuClient.open = async (options) => {
    const client = await open(options);
    Object.assign(client.traits, { isSoftware: false });
    return client;
  };
  await backend.init();
  WebGpuClient.open = open;
});
afterAll(() => backend.dispose());

/** Small integers, whose sums are exact in any order. */
function values(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 16) % 9) - 4);
}

async function run(
  kernel: typeof double,
  shape: readonly [number, number],
  { strides, folded }: { strides?: readonly [number, number]; folded?: number },
): Promise<number[]> {
  const [rows, columns] = shape;
  const x = upload(backend, values(rows * columns));
  const count = folded === undefined ? rows * columns : rows;
  const y = backend.alloc(4 * count);
  backend.run(kernel, {
    shape,
    ...(folded === undefined ? {} : { folded }),
    inputs: { x: strides === undefined ? x : { ptr: x, strides } },
    outputs: { y },
  });
  const got = new Float32Array(count);
  await backend.copyDtoh(got, y);
  for (const ptr of [x, y]) backend.free(ptr);
  return [...got];
}

const at = ([rowStride, stride]: readonly [number, number], row: number, column: number, data: Float32Array): number =>
  data[row * rowStride + column * stride] as number;

function runsOf(id: string): number {
  return backend.variants().runs[id] ?? 0;
}

describe.each(MAPS)('%s', (id) => {
  it.each([
    [64, 512],
    [37, 515],
  ] as const)('%d x %d', async (rows, columns) => {
    backend.native.tuning.force([id]);
    // A plane, as one axis is a broadcast or lies across: no fewer axes would do.
    const strides = id.startsWith('map/tile') ? ([1, rows] as const) : ([0, 1] as const);
    const before = runsOf(id);
    const got = await run(double, [rows, columns], { strides });
    expect(runsOf(id)).toBeGreaterThan(before);
    const data = values(rows * columns);
    expect(got).toEqual(
      Array.from({ length: rows * columns }, (_, i) => 2 * at(strides, Math.floor(i / columns), i % columns, data)),
    );
  });
});

const SHAPES: readonly (readonly [number, number])[] = [
  [70, 256],
  [3, 1001],
];
/** Few rows, of which each is long. */
const LONG: readonly (readonly [number, number])[] = [
  [1, 300_000],
  [2, 70_001],
];

describe.each(ROWS)('%s', (id) => {
  it.each(id.startsWith('stages') ? LONG : SHAPES)('%d x %d', async (rows, columns) => {
    backend.native.tuning.force([id]);
    const isAcross = id.endsWith('columns') || id.startsWith('columns');
    const count = isAcross ? Math.max(rows, 4) : rows;
    const strides = isAcross ? ([1, count] as const) : ([columns, 1] as const);
    const before = runsOf(id);
    const got = await run(sums, [count, columns], { strides, folded: 1 });
    expect(runsOf(id)).toBeGreaterThan(before);
    const data = values(count * columns);
    const wanted = Array.from({ length: count }, (_, row) => {
      let sum = 0;
      for (let column = 0; column < columns; column++) sum += at(strides, row, column, data);
      return sum;
    });
    expect(got).toEqual(wanted);
  });
});

/** Rows weighted by a table. */
const byPlace = defineKernel(
  'byPlace',
  { inputs: { x: 'f32', t: { type: 'f32', access: 'gather', rank: 1 } } },
  ({ x, t }, k) => ({ y: k.fold('sum', k.mul(x, k.gather(t, [k.index(-1)], 2))) }),
);

/** The float32 outputs of a call, of some sizes. */
async function outputsOf(
  sizes: Readonly<Record<string, number>>,
  call: (outputs: Record<string, DevicePtr>) => void,
): Promise<number[][]> {
  const outputs = Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, backend.alloc(4 * size)]));
  call(outputs);
  return Promise.all(
    Object.entries(sizes).map(async ([name, size]) => {
      const got = new Float32Array(size);
      await backend.copyDtoh(got, outputs[name] as DevicePtr);
      backend.free(outputs[name] as DevicePtr);
      return [...got];
    }),
  );
}

describe.each(ROWS)('%s of more than sums', (id) => {
  const [rows, columns] = id.startsWith('stages') ? [4, 40_000] : [8, 520];
  const isAcross = id.endsWith('columns') || id.startsWith('columns');
  const strides = isAcross ? ([1, rows] as const) : ([columns, 1] as const);
  const data = values(rows * columns);
  const row = (number: number): number[] =>
    Array.from({ length: columns }, (_, column) => at(strides, number, column, data));
  const all = Array.from({ length: rows }, (_, number) => row(number));

  it.each([['f32'], ['f16']] as const)('of %s', async (dtype) => {
    backend.native.tuning.force([id]);
    const before = runsOf(id);
    const x = upload(backend, [...data], { dtype });
    const weights = values(columns);
    const t = upload(backend, weights);
    const domain = { shape: [rows, columns], folded: 1 };
    const view = { ptr: x, strides, dtype };
    const [weighted] = await outputsOf({ y: rows }, ({ y }) =>
      backend.run(byPlace, {
        ...domain,
        inputs: { x: view, t: { ptr: t, shape: [columns] } },
        outputs: { y: y as DevicePtr },
      }),
    );
    expect(weighted).toEqual(
      all.map((own) => own.reduce((sum, v, column) => sum + v * (weights[column] as number), 0)),
    );
    const most = backend.alloc(4 * rows);
    const [means] = await outputsOf({ mean: rows }, ({ mean }) =>
      backend.run(places, { ...domain, inputs: { x: view }, outputs: { most, mean: mean as DevicePtr } }),
    );
    const found = new Uint32Array(rows);
    await backend.copyDtoh(found, most);
    expect([...found]).toEqual(all.map((own) => own.indexOf(Math.max(...own))));
    for (const [number, mean] of (means as number[]).entries()) {
      expect(mean).toBeCloseTo((all[number] as number[]).reduce((sum, v) => sum + v, 0) / columns, 5);
    }
    const [y] = await outputsOf({ y: rows * columns }, ({ y: out }) =>
      backend.run(softmax, { ...domain, inputs: { x: view }, outputs: { y: out as DevicePtr } }),
    );
    for (const [number, own] of all.entries()) {
      const exps = own.map((v) => Math.exp(v - 4));
      const sum = exps.reduce((total, v) => total + v, 0);
      const worst = Math.max(
        ...exps.map((v, c) => Math.abs((((y as number[])[number * columns + c] as number) * sum) / v - 1)),
      );
      expect(worst).toBeLessThan(1e-5);
    }
    expect(runsOf(id)).toBeGreaterThan(before);
    for (const ptr of [x, t, most]) backend.free(ptr);
  });
});
