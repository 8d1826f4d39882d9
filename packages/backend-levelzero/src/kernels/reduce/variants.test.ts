import type { ResolvedReduce } from '../built-in.ts';
import { reduceReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memory, readFloats, slice, upload } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceMemory, DeviceTraits } from '../recorder.ts';
import { planReduce } from './plan.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

let client: LevelZeroClient;
beforeAll(async () => {
  client = await LevelZeroClient.open();
});
afterAll(() => client.dispose());

type Op = ResolvedReduce<DeviceMemory>['op'];
type Extents = readonly [outer: number, length: number, inner: number];
const OPS: readonly Op[] = ['sum', 'max', 'min', 'mean'];

const DEVICES: readonly (readonly [string, Partial<DeviceTraits>])[] = [
  ['a CPU', { isCpuLike: true, computeUnits: 2 }],
  ['a small GPU', { isCpuLike: false, computeUnits: 1, subgroupSizes: [] }],
  ['a large GPU', { isCpuLike: false, computeUnits: 64, subgroupSizes: [] }],
  ['a GPU with short grids', { isCpuLike: false, computeUnits: 64, subgroupSizes: [], maxGroups: [3, 4096, 1] }],
];

/** Rows, narrow and wide columns, one below and above vectors, tiles, teams and parts. */
const SHAPES: readonly Extents[] = [
  [1, 1, 1],
  [3, 15, 1],
  [2, 16, 1],
  [7, 63, 1],
  [5, 129, 1],
  [2, 2049, 1],
  [1, 40_001, 1],
  [600, 33, 1],
  [9, 77, 2],
  [1, 20_001, 4],
  [5, 3, 8],
  [1, 1, 7],
  [300, 4, 3],
  [1, 5001, 3],
  [4, 33, 16],
  [3, 70, 17],
  [2, 100, 128],
  [1, 1500, 129],
  [2, 300, 257],
];

/** Small integers, for which every order of summation gives the same bits. */
function integers(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 16) % 17) - 8);
}

/** The result, and what is behind and before it, of operands that start at odd elements. */
async function reduce(op: Op, [outer, length, inner]: Extents, values: Float32Array, traits: Partial<DeviceTraits>) {
  const whole = upload(client, [Number.NaN, ...values, Number.NaN]);
  const guarded = upload(client, new Float32Array(outer * inner + 4).fill(-77));
  const input = slice(whole, 4, values.byteLength);
  const output = slice(guarded, 12, 4 * outer * inner);
  const rest = { opName: 'reduce', dtype: 'f32', operands: [] } as const;
  client.record('reduce', (recorder) =>
    planReduce({ ...rest, op, outer, axisLength: length, inner, input, output }, withTraits(recorder, traits)),
  );
  const all = await readFloats(client, guarded);
  for (const span of [whole, guarded]) client.deallocate(span.buffer.id);
  return { results: all.slice(3, -1), guards: [...all.slice(0, 3), ...all.slice(-1)] };
}

async function check(extents: Extents, values: Float32Array, traits: Partial<DeviceTraits>): Promise<void> {
  for (const op of OPS) {
    const { results, guards } = await reduce(op, extents, values, traits);
    const want = Float32Array.from(reduceReference({ op, shape: extents, axis: 1, dtype: 'f32' }, values).value);
    expect(guards).toEqual([-77, -77, -77, -77]);
    if (op !== 'mean') expect(results, op).toEqual([...want].map((x) => x + 0));
    results.forEach((result, index) => {
      if (Object.is(result, want[index]) || result === want[index]) return;
      expect(Math.abs(result - (want[index] as number)), `mean ${index}`).toBeLessThanOrEqual(
        2 ** -22 * Math.abs(want[index] as number),
      );
    });
  }
}

describe.each(DEVICES)('as on %s', (_, traits) => {
  it.each(SHAPES)('[%d, %d, %d]', async (...extents) => {
    const [outer, length, inner] = extents;
    await check(extents, integers(outer * length * inner), traits);
  });

  it.each([
    [2, 100, 1],
    [1, 20_000, 1],
    [1, 300, 5],
    [1, 600, 40],
  ] as const)('NaN and infinities in [%d, %d, %d]', async (...extents) => {
    const [outer, length, inner] = extents;
    for (const special of [Number.NaN, Infinity, -Infinity]) {
      for (const place of [0, 0.4, 0.999]) {
        const values = integers(outer * length * inner);
        values[Math.floor(place * values.length)] = special;
        await check(extents, values, traits);
      }
    }
  });

  it('max and min of infinities alone, and of nothing', async () => {
    for (const value of [Infinity, -Infinity]) await check([2, 70, 1], new Float32Array(140).fill(value), traits);
    const output = memory(client, 4 * 20);
    const empty: Readonly<Record<Op, number>> = { sum: 0, max: -Infinity, min: Infinity, mean: Number.NaN };
    for (const op of OPS) {
      const rest = { opName: 'reduce', dtype: 'f32', operands: [] } as const;
      client.record('reduce', (recorder) =>
        planReduce(
          { ...rest, op, outer: 4, axisLength: 0, inner: 5, input: undefined, output },
          withTraits(recorder, traits),
        ),
      );
      expect(await readFloats(client, output)).toEqual(Array.from({ length: 20 }, () => empty[op]));
    }
  });

  it('a mean whose sum would overflow', async () => {
    const { results } = await reduce('mean', [1, 1000, 1], new Float32Array(1000).fill(3e38), traits);
    expect(Math.abs((results[0] as number) / 3e38 - 1)).toBeLessThan(1e-5);
  });
});

describe('by sub-groups', () => {
  it.each([
    [1, 1, 1],
    [5, 129, 1],
    [3, 40_001, 1],
    [300, 33, 1],
    [300, 700, 1],
  ] as const)('[%d, %d, %d]', async (...extents) => {
    const [outer, length] = extents;
    // Nothing to ask of a device that has none.
    expect(client.traits.subgroupSizes.length).toBeGreaterThan(0);
    for (const computeUnits of [1, 64]) {
      await check(extents, integers(outer * length), { isCpuLike: false, computeUnits });
      const withNan = integers(outer * length);
      withNan[outer * length - 1] = -Number.NaN;
      await check(extents, withNan, { isCpuLike: false, computeUnits });
    }
  });
});
