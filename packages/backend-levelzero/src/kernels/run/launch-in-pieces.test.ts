import { expect, it } from 'vitest';
import { PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import { launchInPieces, secondsFor } from '../work.ts';
import { defineKernel } from '../kernel.ts';
import type { DeviceTraits, Launch } from '../recorder.ts';

const kernel = defineKernel({
  name: 'test/pieces',
  parameters: { first: 'u64', items: 'u64', other: 'u32' },
  groupSize: [1, 1, 1],
  write: () => undefined,
});

/** The items that the groups of a launch compute, as kernels number them. */
function itemsOf({ args, groups: [columns, rows] }: Launch, perGroup: number): number[] {
  const [first, items] = [args['first'] as number, args['items'] as number];
  return Array.from({ length: Math.max(0, Math.min(items - first, columns * rows * perGroup)) }, (_, i) => first + i);
}

function launchesOf(traits: DeviceTraits, seconds: number, items: number, perGroup: number): readonly Launch[] {
  const recorder = new PlanRecorder(traits);
  const work = seconds / secondsFor(1, traits);
  launchInPieces(recorder, { kernel, args: { other: 7 }, variant: 'run/test', work }, { items, perGroup });
  return recorder.launches;
}

const DEVICES = [
  ['a CPU', TEST_DEVICES.cpu],
  ['a GPU', TEST_DEVICES.gpu],
  ['a device with short grids', { ...TEST_DEVICES.gpu, maxGroups: [7, 65_535, 65_535] }],
] as const;

it.each(DEVICES)('%s computes every item once, in order, whatever their work and their groups', (_, traits) => {
  for (const seconds of [0, 0.5, 1, 1.5, 3, 7.2, 1000]) {
    for (const perGroup of [1, 2, 5, 256]) {
      for (const items of [1, 2, 255, 256, 257, 1000, 3001]) {
        const launches = launchesOf(traits, seconds, items, perGroup);
        const computed = launches.flatMap((launch) => itemsOf(launch, perGroup));
        const wanted = Array.from({ length: items }, (__, item) => item);
        expect(computed, `${seconds} s, ${items} items, ${perGroup} of a group`).toEqual(wanted);
      }
    }
  }
});

it('no launch takes longer than a second where it has several groups, and together they take as long as all', () => {
  for (const seconds of [0.9, 1.1, 4, 9.5]) {
    for (const perGroup of [1, 256]) {
      const launches = launchesOf(TEST_DEVICES.gpu, seconds, 100_000, perGroup);
      const parts = launches.map(({ multiplyAdds = 0 }) => secondsFor(multiplyAdds, TEST_DEVICES.gpu));
      // A group more or less, as they are not cut.
      expect(Math.max(...parts)).toBeLessThan(1.05);
      expect(parts.reduce((sum, part) => sum + part, 0)).toBeCloseTo(seconds);
      expect(launches.map(({ args, variant }) => [args['other'], variant])).toEqual(
        launches.map(() => [7, 'run/test']),
      );
    }
  }
});
