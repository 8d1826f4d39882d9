import type { DevicePtr } from '@concord/backend-core';
import { profile } from '@concord/backend-core/profile';
import { expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { LevelZeroBackend } from '../src/index.ts';
import { driverSwitches } from './support/live-objects.ts';

// In its own file: at the end the device is lost for the whole process.

const N = 128;

async function open() {
  const backend = new LevelZeroBackend();
  await backend.init();
  const [a, b, c] = [0, 1, 2].map(() => backend.alloc(4 * N * N)) as [DevicePtr, DevicePtr, DevicePtr];
  for (const ptr of [a, b]) backend.fill(ptr, 0, 4 * N * N);
  const multiply = (): void => backend.gemm({ m: N, n: N, k: N, a, b, c });
  const add = (n = 4): void => backend.binary({ op: 'add', n, a, b, output: c });
  return { backend, multiply, add };
}

it('times each kernel by its event, those of several pools, and leaves nothing behind', async () => {
  const watcher = await LevelZeroClient.open();
  const { live } = driverSwitches(watcher);
  const before = live();
  const { backend, multiply, add } = await open();
  const work = async (): Promise<void> => {
    for (let turn = 0; turn < 300; turn++) {
      multiply();
      add();
      if (turn % 50 === 49) await backend.synchronize();
    }
  };
  await profile(backend, work);
  const { launches, sums, wallMs } = await profile(backend, work);
  expect(launches).toHaveLength(600);
  expect(new Set(launches.map(({ clock }) => clock))).toEqual(new Set(['device']));
  // Which of them takes longer depends on what else this machine does; the longer one is first.
  expect(sums.map(({ name }) => name).sort()).toEqual(['binary add', 'gemm']);
  const [longer = NaN, shorter = NaN] = sums.map(({ ms }) => ms);
  expect(longer).toBeGreaterThanOrEqual(shorter);
  expect(longer + shorter).toBeLessThan(wallMs);
  const passes = launches.flatMap((launch) => launch.passes);
  expect(passes.map(({ variant }) => variant)).toContain('run/map-runs');
  const starts = passes.map(({ startMs = NaN }) => startMs);
  expect(starts).toEqual([...starts].sort((x, y) => x - y));
  await backend.dispose();
  const { launches: _, copies: _copies, ...left } = live();
  expect(left).toMatchObject({ contexts: before.contexts, kernels: before.kernels, allocations: before.allocations });
  await watcher.dispose();
});

it('keeps what ran until the device was lost', async () => {
  const { backend, add } = await open();
  const { lose } = driverSwitches(await LevelZeroClient.open());
  const { result, launches } = await profile(backend, async () => {
    add();
    await backend.synchronize();
    lose();
    add(8);
    await backend.synchronize();
  });
  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DEVICE_LOST' } });
  expect(launches[0]).toMatchObject({ op: 'binary', size: '4 f32' });
  await expect(profile(backend, () => add())).rejects.toMatchObject({ code: 'DEVICE_LOST' });
  await backend.dispose();
});
