import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';

// Calls that differ in the place of one operand alone, within an allocation that a binding holds, and within a larger one.

/** Bytes from one place to the next: as much as the smaller binding. */
const STEP = 4096;
const PLACES = 6;
const SIZE = 16;

type Call = (backend: ComputeBackend, a: DevicePtr, b: DevicePtr, c: DevicePtr) => void;

const square = { m: SIZE, n: SIZE, k: SIZE };
const head = { batch: 1, heads: 1, seqKv: SIZE, headDim: SIZE, scale: 0.5, causal: false };
const pixels = { inputShape: [1, 4, 8, 8], filterShape: [4, 4, 1, 1], outputShape: [1, 4, 8, 8] } as const;
const CALLS: Readonly<Record<string, Call>> = {
  gemm: (backend, a, b, c) => backend.gemm({ ...square, a, b, c }),
  'a product of one row': (backend, a, b, c) => backend.gemm({ ...square, m: 1, a, b, c }),
  'a product of one column': (backend, a, b, c) => backend.gemm({ ...square, n: 1, a, b, c }),
  attention: (backend, q, k, o) => backend.attention({ ...head, seqQ: SIZE, q, k, v: k, o }),
  'attention of one query': (backend, q, k, o) => backend.attention({ ...head, seqQ: 1, q, k, v: k, o }),
  conv2dForward: (backend, input, filter, output) => backend.conv2dForward({ ...pixels, input, filter, output }),
  binary: (backend, a, b, output) => backend.binary({ op: 'sub', n: SIZE * SIZE, a, b, output }),
};

/** All places of the results, after calls with each operand in each place and the others in their first. */
async function results(backend: ComputeBackend, call: Call): Promise<Float32Array[]> {
  const pools = Array.from({ length: 3 }, () => backend.alloc(PLACES * STEP));
  const values = Float32Array.from({ length: (PLACES * STEP) / 4 }, (_, i) => ((5 * i) % 23) - 11);
  const after = [];
  for (const moved of pools.keys()) {
    for (const [index, pool] of pools.entries())
      backend.copyHtod(
        pool,
        values.map((value) => value + index),
      );
    for (let place = 0; place < PLACES; place++) {
      const own = pools.map((pool, index) => offsetPtr(pool, index === moved ? place * STEP : 0));
      call(backend, ...(own as [DevicePtr, DevicePtr, DevicePtr]));
      // Operands in one place overwrite the result of the call before.
      if (moved !== 2)
        backend.copyDtod(offsetPtr(pools[2] as DevicePtr, (place + 0.5) * STEP), pools[2] as DevicePtr, 1024);
    }
    const got = new Float32Array(values.length);
    await backend.copyDtoh(got, pools[2] as DevicePtr);
    after.push(got);
  }
  for (const pool of pools) backend.free(pool);
  return after;
}

it.each([STEP, 2 ** 20])('in windows of %i bytes', async (maxBindingBytes) => {
  await using oracle = await CpuBackend.create();
  await using backend = await WebGpuBackend.create({ maxBindingBytes });
  for (const [name, call] of Object.entries(CALLS)) {
    const [got, want] = [await results(backend, call), await results(oracle, call)];
    for (const [moved, list] of want.entries()) {
      const differences = list.map((value, i) => Math.abs(value - (got[moved]?.[i] as number)));
      expect(Math.max(...differences), `${name}, operand ${moved} moved`).toBeLessThan(1e-3);
    }
  }
});
