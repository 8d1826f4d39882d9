import type { ResolvedTopK } from '@concord/backend-core/implement';
import { topKReference } from '@concord/backend-cpu/reference';
import { NOTHING_TUNED } from '@concord/variants';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memory, readBytes, slice, upload } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceMemory, DeviceTraits } from '../recorder.ts';
import { planTopK } from './plan.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

let client: LevelZeroClient;
beforeAll(async () => {
  client = await LevelZeroClient.open();
});
afterAll(() => client.dispose());

const as = (traits: Partial<DeviceTraits>, variant: string): Partial<DeviceTraits> => ({
  ...traits,
  preferences: { forced: [variant], tuned: NOTHING_TUNED },
});
const DEVICES: readonly (readonly [string, Partial<DeviceTraits>])[] = [
  ['a CPU', as({ isCpuLike: true, computeUnits: 2 }, 'top-k/lane')],
  ['a CPU of many cores', as({ isCpuLike: true, computeUnits: 64 }, 'top-k/lane')],
  ['a GPU, by sorting', as({ isCpuLike: false, computeUnits: 64 }, 'top-k/sort')],
  ['a GPU, by selecting', as({ isCpuLike: false, computeUnits: 64 }, 'top-k/select')],
  ['a GPU with short grids', as({ isCpuLike: false, computeUnits: 64, maxGroups: [3, 4096, 1] }, 'top-k/s*')],
];

const SHAPES: readonly (readonly [rows: number, columns: number, k: number])[] = [
  [1, 1, 1],
  [70, 15, 3],
  [9, 17, 17],
  [3, 1024, 256],
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

describe.each(DEVICES)('as on %s', (_, traits) => {
  it.each(SHAPES)('[%d, %d], %d', async (rows, columns, k) => {
    const data = elements(rows * columns);
    const whole = upload(client, [Number.NaN, ...data, Number.NaN]);
    const results = memory(client, 8 * rows * k + 12);
    client.fill(results, 0x5a);
    const bytes = 4 * rows * k;
    for (const largest of [true, false]) {
      const call: ResolvedTopK<DeviceMemory> = {
        ...{ opName: 'topK', dtype: 'f32', operands: [], largest, rows, columns, k },
        input: slice(whole, 4, data.byteLength),
        values: slice(results, 4, bytes),
        indices: slice(results, 8 + bytes, bytes),
      };
      client.record('topK', (recorder) => planTopK(call, withTraits(recorder, traits)));
      const words = new Uint32Array((await readBytes(client, results)).buffer);
      const want = topKReference({ rows, columns, k, largest }, data);
      const bits = new Uint32Array(data.buffer);
      expect([...words.subarray(2 + rows * k, -1)]).toEqual([...want]);
      const picked = [...want].map((place, i) => bits[Math.floor(i / k) * columns + place]);
      expect([...words.subarray(1, 1 + rows * k)]).toEqual(picked);
      expect([words[0], words[1 + rows * k], words.at(-1)]).toEqual([0x5a5a_5a5a, 0x5a5a_5a5a, 0x5a5a_5a5a]);
    }
    for (const span of [whole, results]) client.deallocate(span.buffer.id);
  });
});
