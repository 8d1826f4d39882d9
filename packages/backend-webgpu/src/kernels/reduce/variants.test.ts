import { type ReduceOp, upload } from '@concord/backend-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { WebGpuBackend } from '../../webgpu-backend.ts';
import { VARIANT_IDS } from './plan.ts';

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

/** Small integers, whose sums are exact in any order; one row or column has a NaN. */
function values(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) =>
    i === 5 ? Number.NaN : ((Math.imul(i + 1, 0x9e3779b1) >>> 16) % 9) - 4,
  );
}

function reference(op: ReduceOp, input: Float32Array, [outer, length, inner]: Shape): number[] {
  return Array.from({ length: outer * inner }, (_, item) => {
    const first = Math.floor(item / inner) * length * inner + (item % inner);
    const terms = Array.from({ length }, (__, i) => input[first + i * inner] as number);
    if (op === 'sum') return terms.reduce((sum, term) => sum + term, 0);
    return terms.reduce((most, term) => (op === 'max' ? Math.max(most, term) : Math.min(most, term)));
  });
}

type Shape = readonly [outer: number, length: number, inner: number];

async function check(op: ReduceOp, shape: Shape): Promise<void> {
  const [outer, length, inner] = shape;
  const data = values(outer * length * inner);
  const input = upload(backend, data);
  const output = backend.alloc(4 * outer * inner);
  backend.reduce({ op, shape, axis: 1, input, output });
  const got = new Float32Array(outer * inner);
  await backend.copyDtoh(got, output);
  for (const ptr of [input, output]) backend.free(ptr);
  expect([...got], `${op} ${shape.join('x')}`).toEqual(reference(op, data, shape));
}

const ROWS: readonly Shape[] = [
  [1, 256, 1],
  [70, 259, 1],
  [3, 1000, 1],
  [5, 4099, 1],
  [1, 70_001, 1],
];
const COLUMNS: readonly Shape[] = [
  [1, 5, 3],
  [2, 100, 4],
  [3, 33, 66],
  [1, 3000, 20],
  [1, 10, 5000],
];

describe.each(VARIANT_IDS)('%s', (id) => {
  it.each(['sum', 'max', 'min'] as const)('%s', async (op) => {
    backend.native.tuning.force([id]);
    for (const shape of id.startsWith('reduce/rows') ? ROWS : COLUMNS) {
      const before = backend.variants().runs[id] ?? 0;
      await check(op, shape);
      expect(backend.variants().runs[id] ?? 0, shape.join('x')).toBeGreaterThan(before);
    }
  });
});
