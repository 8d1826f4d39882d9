import type { DevicePtr } from '@concord/backend-core';
import { profile } from '@concord/backend-core/profile';
import { afterEach, expect, it, vi } from 'vitest';
import { MAX_COMMANDS } from '../src/client/command-stream.ts';
import { WebGpuBackend } from '../src/index.ts';

const opened: WebGpuBackend[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((backend) => backend.dispose()));
});

const N = 192;

async function open() {
  const backend = await WebGpuBackend.create();
  opened.push(backend);
  const [a, b, c] = [0, 1, 2].map(() => backend.alloc(4 * N * N)) as [DevicePtr, DevicePtr, DevicePtr];
  for (const ptr of [a, b]) backend.fill(ptr, 0, 4 * N * N);
  const multiply = (): void => backend.gemm({ m: N, n: N, k: N, a, b, c });
  const add = (n = 4): void => backend.binary({ op: 'add', n, a, b, output: c });
  return { backend, multiply, add };
}

it('times each dispatch by the clock of the device, those of several batches', async () => {
  const { backend, multiply, add } = await open();
  const turns = MAX_COMMANDS + 20;
  const work = (): void => {
    for (let turn = 0; turn < turns; turn++) {
      multiply();
      add();
    }
  };
  await profile(backend, work);
  const before = { ...backend.variants().runs };
  const { launches, wallMs, sums } = await profile(backend, work);
  expect(launches).toHaveLength(2 * turns);
  expect(new Set(launches.map(({ clock }) => clock))).toEqual(new Set(['device']));
  const ran = new Map<string, number>();
  for (const { variant = '' } of launches.flatMap(({ passes }) => passes))
    ran.set(variant, (ran.get(variant) ?? 0) + 1);
  const { runs } = backend.variants();
  for (const [variant, count] of ran)
    expect([variant, count]).toEqual([variant, (runs[variant] ?? 0) - (before[variant] ?? 0)]);
  const [first, second] = sums;
  expect([first?.name, second?.name]).toEqual(['gemm', 'binary add']);
  expect(first?.ms).toBeGreaterThan(3 * (second?.ms ?? Infinity));
  expect((first?.ms ?? 0) + (second?.ms ?? 0)).toBeLessThan(wallMs);
  const starts = launches.flatMap(({ passes }) => passes.map(({ startMs = NaN }) => startMs));
  expect(starts).toEqual([...starts].sort((x, y) => x - y));
});

it('without timestamps tells the variants, and no time of the device', async () => {
  const { backend, add } = await open();
  vi.spyOn(backend.native.device.features, 'has').mockReturnValue(false);
  const { launches } = await profile(backend, () => add());
  expect(launches).toMatchObject([{ op: 'binary', passes: [{ variant: expect.stringMatching(/^map\//) }] }]);
  expect(launches[0]).not.toHaveProperty('ms');
  expect(launches[0]).not.toHaveProperty('clock');
});

it('keeps what ran until the device was lost', async () => {
  const { backend, add } = await open();
  const { result, launches } = await profile(backend, async () => {
    add();
    await backend.synchronize();
    add(8);
    backend.native.device.destroy();
    await backend.synchronize();
  });
  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DEVICE_LOST' } });
  expect(launches.map(({ size }) => size)).toEqual(['4 f32', '8 f32']);
  await expect(profile(backend, () => add())).rejects.toMatchObject({ code: 'DEVICE_LOST' });
});
