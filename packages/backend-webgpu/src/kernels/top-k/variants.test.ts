import { idsOf, NOTHING_TUNED } from '@concord/variants';
import { describe, expect, it } from 'vitest';
import { opened } from '../../../../backend-cpu/test/opened.ts';
import { checkTopK, type TopKCase } from '../../../../backend-cpu/test/op-memory.ts';
import { memoryOf, pretending } from '../../../test/support/device-values.ts';
import { WebGpuClient } from '../../client/webgpu-client.ts';
import { planTopK, topKFamily } from './plan.ts';

// Which variant runs depends on the device and on the shape. Here each runs on the device at hand, as if it was a GPU.

const client = opened(() => WebGpuClient.open());

const SHORT: readonly TopKCase[] = [
  [1, 1, 1],
  [130, 15, 3],
  [40, 17, 17],
  [3, 1024, 256],
];
const LONG: readonly TopKCase[] = [
  [3, 1025, 65],
  [1, 40_001, 20],
  [2, 20_000, 256],
];

describe.each(idsOf({ topK: topKFamily }))('%s', (id) => {
  it.each([true, false])('largest %s', async (largest) => {
    for (const lists of id === 'top-k/sort' ? SHORT : [...SHORT, ...LONG]) {
      const ran = new Set<string | undefined>();
      await checkTopK(memoryOf(client), lists, largest, (call) =>
        client.record('topK', (recorder) => {
          const preferences = { forced: [id], tuned: NOTHING_TUNED };
          const planned = pretending(recorder, { isSoftware: false, preferences });
          const launch: typeof recorder.launch = (given) => {
            ran.add(given.variant);
            recorder.launch(given);
          };
          planTopK(call, { ...planned, launch });
        }),
      );
      expect([...ran], lists.join()).toContain(id);
    }
  });
});
