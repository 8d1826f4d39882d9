import { idsOf } from '@concord/variants';
import { isBackendError } from '@concord/backend-core';
import type { ResolvedTopK } from '@concord/backend-core/implement';
import { NOTHING_TUNED } from '@concord/variants';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeSpan, PlanRecorder } from '../../../test/support/plan-recorder.ts';
import { TEST_DEVICES } from '../../../test/support/traits.ts';
import type { DeviceTraits, StorageBuffer } from '../recorder.ts';
import { planTopK, topKFamily } from './plan.ts';

type Lists = readonly [rows: number, columns: number, k: number];

function planned(
  traits: DeviceTraits,
  [rows, columns, k]: Lists,
  { offset = 0, isTogether = false }: { offset?: number; isTogether?: boolean } = {},
): PlanRecorder {
  const recorder = new PlanRecorder(traits);
  const sizes = [rows * columns * 4, rows * k * 4, rows * k * 4];
  const all = fakeSpan(sizes.reduce((sum, size) => sum + size, offset));
  let end = offset;
  const spans = sizes.map((byteLength) => {
    const byteOffset = isTogether ? end : offset;
    end += byteLength;
    return { ...(isTogether ? all : fakeSpan(byteLength + offset)), byteOffset, byteLength };
  });
  const [input, values, indices] = spans as [typeof all, typeof all, typeof all];
  const call: ResolvedTopK<StorageBuffer> = {
    ...{ opName: 'topK', dtype: 'f32', operands: [], largest: true },
    ...{ rows, columns, k, input, values, indices },
  };
  planTopK(call, recorder);
  return recorder;
}

describe('on a large GPU', () => {
  it.each([
    ['the next word of many sequences', [4096, 50_257, 10], ['select elements 256']],
    ['the nearest of a million', [1, 1_000_000, 100], ['select elements 1024', 'select candidates 1024']],
    ['experts of each token', [65_536, 64, 8], ['sort elements 64']],
    ['short rows, most of them wanted', [3, 900, 256], ['sort elements 1024']],
    ['short rows, few of them wanted', [3, 900, 4], ['select elements 256']],
    ['few candidates', [1, 40_000, 3], ['select elements 256', 'sort candidates 64']],
  ] as const)('%s', (_, lists, kernels) => {
    expect(planned(TEST_DEVICES.gpu, lists).kernelNames).toEqual(kernels.map((name) => `top-k/${name}`));
  });

  it('elements are read once, by many workgroups', () => {
    const { launches } = planned(TEST_DEVICES.gpu, [1, 2 ** 26, 256]);
    expect(launches[0]?.groups).toBeGreaterThan(400);
    expect(launches.filter(({ kernel }) => kernel.name.includes('elements'))).toHaveLength(1);
  });
});

it('on software devices, no lanes work together', () => {
  for (const lists of [
    [1, 2 ** 20, 256],
    [70_000, 3, 2],
    [7, 300, 5],
  ] as const) {
    for (const name of planned(TEST_DEVICES.swiftshader, lists).kernelNames) expect(name).toMatch(/^top-k\/lane /);
  }
});

it('outputs in one buffer, or in that of the input, are written elsewhere and copied', () => {
  const { copies, scratches } = planned(TEST_DEVICES.gpu, [4, 100, 4], { isTogether: true });
  expect(copies.map(({ src }) => src)).toEqual(scratches);
  expect(copies.map(({ dst }) => dst.byteOffset)).toEqual([1600, 1664]);
  expect(planned(TEST_DEVICES.gpu, [4, 100, 4]).copies).toEqual([]);
});

it('rows that do not fit a binding are selected from in windows', () => {
  const windows = { ...TEST_DEVICES.tiny, maxBindingBytes: 4096 };
  const { launches } = planned(windows, [2, 5000, 256]);
  const bases = launches
    .filter(({ kernel }) => kernel.name.includes('elements'))
    .map(({ uniforms }) => uniforms['base']);
  expect(bases).toEqual([0, 959, 1918, 2877, 3836, 4795, 0, 959, 1918, 2877, 3836, 4795]);
});

it('a binding without room for twice k is too small', () => {
  const plan = (): PlanRecorder => planned(TEST_DEVICES.tiny, [1, 5000, 256]);
  expect(plan).toThrow(/k 256 of 5000 columns needs larger bindings/);
});

it('every launch obeys the device', () => {
  const { tiny, ...real } = TEST_DEVICES;
  const windows = { ...tiny, maxBindingBytes: 65_536 };
  const size = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5000 }));
  const huge = fc.integer({ min: 2 ** 20, max: 2 ** 28 });
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(real), windows),
      fc.oneof(fc.tuple(size, size), fc.tuple(fc.constantFrom(1, 3), huge)),
      fc.integer({ min: 1, max: 256 }),
      fc.constantFrom(0, 4),
      fc.boolean(),
      fc.constantFrom('none', ...idsOf({ topK: topKFamily })),
      (device, [rows, columns], k, offset, isTogether, forced) => {
        fc.pre(device !== windows || rows * columns < 2 ** 22);
        const preferences = { forced: [forced], tuned: NOTHING_TUNED };
        const traits = { ...device, maxBufferBytes: 2 ** 40, preferences };
        try {
          const { scratches } = planned(traits, [rows, columns, Math.min(k, columns)], { offset, isTogether });
          expect(scratches.length).toBeLessThanOrEqual(16);
        } catch (error) {
          if (!isBackendError(error, 'UNSUPPORTED')) throw error;
        }
      },
    ),
  );
});
