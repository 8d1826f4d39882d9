import { defineKernel, type GatherView } from '@concord/backend-core/kernel';
import { expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { integers } from '../../backend-cpu/test/op-memory.ts';
import { plannedRun } from './support/planned-run.ts';
import { runOnDevice } from './support/run-on-device.ts';
import { TEST_DEVICES } from './support/traits.ts';

// Tables that are read at the index along an axis: by vectors where those of the domain lie along that axis, else not.

const client = opened(() => WebGpuClient.open());

const table = { type: 'f32', access: 'gather', rank: 1 } as const;
const spreadTable = defineKernel('spreadTable', { inputs: { t: table } }, ({ t }, k) => ({
  y: k.gather(t, [k.index(-1)], -9),
}));
const weighted = defineKernel('weighted', { inputs: { x: 'f32', t: table } }, ({ x, t }, k) => ({
  y: k.fold('sum', k.mul(x, k.gather(t, [k.index(-1)], 3))),
}));

/** A table, the last elements of which no index along an axis of `length` need reach. */
const tableOf = (length: number): { readonly t: GatherView } => ({ t: { shape: [length] } });

it.each([
  ['a transposed output', [8, 16], 16, [1, 8]],
  ['a transposed output, a short table', [8, 16], 12, [1, 8]],
  ['rows', [8, 16], 12, [16, 1]],
  ['an axis of one', [8, 1], 4, [1, 1]],
  ['columns far apart', [5, 12], 12, [1, 40]],
  ['a table that ends between vectors', [8, 16], 14, [16, 1]],
  ['a transposed output, a table that ends between vectors', [8, 16], 15, [1, 8]],
] as const)('a table along the last axis, %s', async (_, shape, length, strides) => {
  const t = integers(length, 1);
  const [y] = await runOnDevice(client, spreadTable, {
    ...{ shape, inputs: tableOf(length), outputs: { y: { strides } } },
    ...{ data: [t], traits: { isSoftware: false } },
  });
  for (let row = 0; row < shape[0]; row++) {
    for (let column = 0; column < shape[1]; column++) {
      expect(y?.[row * strides[0] + column * strides[1]], `${row}, ${column}`).toBe(t[column] ?? -9);
    }
  }
});

it.each([[true], [false]])('columns weighted by a table, software: %s', async (isSoftware) => {
  const [rows, columns] = [96, 1000];
  const [x, t] = [integers(rows * columns, 1), integers(columns, 7)];
  const [y] = await runOnDevice(client, weighted, {
    ...{ shape: [rows, columns], folded: 1, inputs: { x: { strides: [1, rows] }, ...tableOf(columns) } },
    ...{ data: [x, t], traits: { isSoftware } },
  });
  const wanted = Array.from({ length: rows }, (_, row) =>
    t.reduce((sum, weight, column) => sum + weight * (x[row + column * rows] as number), 0),
  );
  expect(y).toEqual(wanted);
});

it('rows of a table that differ from point to point', async () => {
  const rowOfEach = defineKernel(
    'rowOfEach',
    { inputs: { t: { type: 'f32', access: 'gather', rank: 2 }, at: 'u32' } },
    ({ t, at }, k) => ({ y: k.gather(t, [at, k.index(-1)], -9) }),
  );
  const [rows, columns] = [6, 16];
  const t = integers(5 * columns, 1);
  const at = Array.from({ length: rows * columns }, (_, i) => (7 * i) % 6);
  const [y] = await runOnDevice(client, rowOfEach, {
    ...{ shape: [rows, columns], inputs: { t: { shape: [5, columns] } } },
    ...{ data: [t, new Float32Array(Uint32Array.from(at).buffer)], traits: { isSoftware: false } },
  });
  // The sixth row is beyond the table.
  expect(y).toEqual(at.map((row, i) => t[row * columns + (i % columns)] ?? -9));
});

const padded = defineKernel('padded', { inputs: { t: { type: 'f32', access: 'gather', rank: 2 } } }, ({ t }, k) => ({
  y: k.gather(t, [k.index(0), k.index(-1)], -9),
}));

it.each([
  [4, 4, 8],
  [4, 5, 8],
  [4, 6, 8],
  [4, 7, 12],
  [4, 8, 8],
  [8, 13, 16],
  [3, 4, 4],
  [3, 6, 8],
  [3, 8, 12],
] as const)('%d rows of %d columns, %d from each to the next: nothing that lies between is read', async (...sizes) => {
  const [rows, columns, stride] = sizes;
  const shape = [rows + 1, stride + 4];
  const t = integers((rows - 1) * stride + columns, 1);
  const [y] = await runOnDevice(client, padded, {
    ...{ shape, inputs: { t: { shape: [rows, columns], strides: [stride, 1] } } },
    ...{ data: [t], traits: { isSoftware: false } },
  });
  for (let row = 0; row < rows + 1; row++) {
    for (let column = 0; column < stride + 4; column++) {
      const want = row < rows && column < columns ? t[row * stride + column] : -9;
      expect(y?.[row * (stride + 4) + column], `${row}, ${column}`).toBe(want);
    }
  }
});

it('a table that takes several bindings, to its last element', async () => {
  const length = 3 * 1024 + 7;
  const t = integers(length, 1);
  const reversed = defineKernel('reversed', { inputs: { t: table } }, ({ t: values }, k) => ({
    y: k.gather(values, [k.sub(k.u32(length - 1), k.index(-1))], -9),
  }));
  const [y] = await runOnDevice(client, reversed, {
    ...{ shape: [length], inputs: tableOf(length), data: [t], traits: { maxBindingBytes: 4096 } },
  });
  expect(y).toEqual([...t].reverse());
});

it('pieces that begin between vectors', async () => {
  const t = integers(1092, 1);
  const [y] = await runOnDevice(client, spreadTable, {
    ...{ shape: [1090], inputs: tableOf(1092), outputs: { y: { strides: [100] } } },
    ...{ data: [t], traits: { maxBindingBytes: 8192 } },
  });
  expect(y?.filter((__, at) => at % 100 === 0)).toEqual(t.slice(0, 1090));
});

it('along the vectors, a table is read by vectors', () => {
  const { launches } = plannedRun(spreadTable, { shape: [8, 16], inputs: tableOf(16) }, TEST_DEVICES.gpu);
  expect(launches[0]?.kernel.code).toContain('b0: array<vec4<u32>>');
});
