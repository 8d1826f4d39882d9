import { idsOf, kernelsFor } from '@concord/variants';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import { NOTHING_TUNED } from '@concord/variants';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceMemory, DeviceTraits } from '../recorder.ts';
import { planTopK, topKFamily } from './plan.ts';

type Lists = readonly [rows: number, columns: number, k: number];

function planned(traits: DeviceTraits, [rows, columns, k]: Lists): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  const call: ResolvedTopK<DeviceMemory> = {
    ...{ opName: 'topK', dtype: 'f32', operands: [], largest: false, rows, columns, k },
    input: fakeSpan(rows * columns * 4, 4),
    values: fakeSpan(rows * k * 4),
    indices: fakeSpan(rows * k * 4),
  };
  planTopK(call, recorder);
  return recorder;
}

it.each([
  ['a CPU', 'cpu', [64, 50_257, 10], ['lane elements']],
  ['a CPU, one row', 'cpu', [1, 1_000_000, 100], ['lane elements', 'lane candidates']],
  ['a GPU', 'gpu', [4096, 50_257, 10], ['select elements 256']],
  ['a GPU, one row', 'gpu', [1, 1_000_000, 100], ['select elements 1024', 'select candidates 1024']],
  ['a GPU, short rows', 'gpu', [65_536, 64, 8], ['sort elements 64']],
] as const)('on %s', (_, device, lists, kernels) => {
  expect(planned(TEST_DEVICES[device], lists).kernelNames).toEqual(kernels.map((name) => `top-k/${name}`));
});

it('every launch obeys the device, with kernels that are known for it', () => {
  const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5000 }));
  const huge = fc.integer({ min: 2 ** 20, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(TEST_DEVICES)),
      fc.oneof(fc.tuple(size, size), fc.tuple(fc.constantFrom(1, 3), huge)),
      fc.integer({ min: 1, max: 256 }),
      fc.constantFrom('none', ...idsOf({ topK: topKFamily })),
      (device, [rows, columns], k, forced) => {
        const traits = {
          ...device,
          maxAllocationBytes: 2 ** 40,
          preferences: { forced: [forced], tuned: NOTHING_TUNED },
        };
        const known = new Set(kernelsFor({ topK: topKFamily }, traits));
        const { launches, scratches } = planned(traits, [rows, columns, Math.min(k, columns)]);
        for (const { kernel } of launches) expect(known.has(kernel), kernel.name).toBe(true);
        expect(scratches.length).toBeLessThanOrEqual(8);
      },
    ),
  );
});
