import { idsOf } from '@concord/variants';
import { topKReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { WebGpuBackend } from '../../webgpu-backend.ts';
import { topKFamily } from './plan.ts';

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

type Lists = readonly [rows: number, columns: number, k: number];

const SHORT: readonly Lists[] = [
  [1, 1, 1],
  [130, 15, 3],
  [40, 17, 17],
  [3, 1024, 256],
];
const LONG: readonly Lists[] = [
  [3, 1025, 65],
  [1, 40_001, 20],
  [2, 20_000, 256],
];

/** Numbers with equals among them, a NaN, and both zeros. */
function elements(length: number): Float32Array {
  const values = Float32Array.from({ length }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 12) % 500) - 250);
  values[5 % length] = Number.NaN;
  return values.map((x, i) => (x === 0 && i % 2 === 1 ? -0 : x));
}

async function check([rows, columns, k]: Lists, largest: boolean): Promise<void> {
  const data = elements(rows * columns);
  const input = backend.alloc(data.byteLength);
  backend.copyHtod(input, data);
  const [values, indices] = [backend.alloc(4 * rows * k), backend.alloc(4 * rows * k)];
  backend.topK({ rows, columns, k, largest, input, values, indices });
  const [gotValues, gotIndices] = [new Float32Array(rows * k), new Uint32Array(rows * k)];
  await backend.copyDtoh(gotValues, values);
  await backend.copyDtoh(gotIndices, indices);
  for (const ptr of [input, values, indices]) backend.free(ptr);
  const want = topKReference({ rows, columns, k, largest }, data);
  const name = `${rows}x${columns}, ${k}`;
  expect([...gotIndices], name).toEqual([...want]);
  expect([...gotValues], name).toEqual([...want].map((place, i) => data[Math.floor(i / k) * columns + place]));
}

describe.each(idsOf({ topK: topKFamily }))('%s', (id) => {
  it.each([true, false])('largest %s', async (largest) => {
    backend.native.tuning.force([id]);
    for (const lists of id === 'top-k/sort' ? SHORT : [...SHORT, ...LONG]) {
      const before = backend.variants().runs[id] ?? 0;
      await check(lists, largest);
      expect(backend.variants().runs[id] ?? 0, lists.join()).toBeGreaterThan(before);
    }
  });
});
