import { NOTHING_TUNED } from '@concord/variants';
import { describe, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkTopK, type TopKCase } from '../../../../backend-cpu/test/op-memory.ts';
import { withTraits } from '../../../test/support/forced-traits.ts';
import { memoryOf } from '../../../test/support/spans.ts';
import { LevelZeroClient } from '../../device/level-zero-client.ts';
import type { DeviceTraits } from '../recorder.ts';
import { planTopK } from './plan.ts';

// Which kernel runs depends on the device and on the shape. Here each runs on the device at hand, whatever that is.

const client = opened(() => LevelZeroClient.open());

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

const SHAPES: readonly TopKCase[] = [
  [1, 1, 1],
  [70, 15, 3],
  [9, 17, 17],
  [3, 1024, 256],
  [3, 1025, 65],
  [1, 40_001, 20],
  [2, 20_000, 256],
];

describe.each(DEVICES)('as on %s', (_, traits) => {
  it.each(SHAPES)('[%d, %d], %d', async (...lists) => {
    for (const largest of [true, false]) {
      await checkTopK(memoryOf(client), lists, largest, (call) =>
        client.record('topK', (recorder) => planTopK(call, withTraits(recorder, traits))),
      );
    }
  });
});
