import { expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { addModule, affine, withoutEnd } from './support/kernels.ts';
import { driverSwitches, type LiveObjects } from './support/live-objects.ts';
import { launchAffine, memory, readFloats, upload } from './support/spans.ts';

// One client stays open: the counters are the driver's, and it is what they are read through.
const watcher = opened(() => LevelZeroClient.open());
const switches = driverSwitches(watcher);

const objects = (): Omit<LiveObjects, 'launches' | 'copies'> => {
  const { launches: _, copies: __, ...rest } = switches.live();
  return rest;
};

it('a client that is disposed leaves nothing in the driver', async () => {
  const before = objects();
  for (let round = 0; round < 3; round++) {
    const client = await LevelZeroClient.open();
    const x = upload(client, [1, 2, 3]);
    for (let i = 0; i < 300; i++) launchAffine(client, x, 1, 1);
    expect(await readFloats(client, x)).toEqual([301, 302, 303]);
    client.fill(memory(client, 100 * 2 ** 20), 1);
    client.launch(
      client.load(addModule()),
      'add',
      [{ pointer: x }, { pointer: x }, { pointer: x }, { f32: 1 }],
      [1, 1, 1],
      { groupSize: [1, 1, 1] },
    );
    await client.compile(affine);
    expect(() => client.load(withoutEnd())).toThrow('does not build');
    // Queued, and never submitted.
    launchAffine(client, x, 1, 1);
    const during = objects();
    expect(during.contexts).toBe(before.contexts + 1);
    expect(during.modules).toBe(before.modules + 2);
    expect(during.kernels).toBe(before.kernels + 2);
    await client.dispose();
    expect(objects()).toEqual(before);
  }
});

it('objects and memory stay the same over 20,000 ops', async () => {
  const client = await LevelZeroClient.open();
  const round = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const x = upload(client, [i]);
      launchAffine(client, x, 2, 1);
      client.deallocate(x.buffer.id);
      if (i % 1000 === 0) await client.finish();
    }
    await client.finish();
  };
  await round(2000);
  await round(2000);
  const before = objects();
  const rss = process.memoryUsage().rss;
  await round(20_000);
  const after = objects();
  expect({ ...after, lists: 0, fences: 0 }).toEqual({ ...before, lists: 0, fences: 0 });
  // How far the device lags behind decides how many lists there are, up to those that are kept.
  expect(after.lists).toBeLessThanOrEqual(Math.max(before.lists, 64 + 2));
  expect(after.fences).toBe(after.lists);
  // 20,000 times 2 KiB would be 40 MiB; the engine's own garbage is a few.
  expect((process.memoryUsage().rss - rss) / 2 ** 20).toBeLessThan(32);
  await client.dispose();
});

it('pooled memory is bounded, and large memory goes back at once', async () => {
  const client = await LevelZeroClient.open({ maxPooledBytes: 2 ** 20 });
  const sizes = Array.from({ length: 40 }, (_, index) => (index + 1) * 10_000);
  for (const size of sizes) client.deallocate(client.allocate(size).id);
  expect(client.memory().pooledBytes).toBeLessThanOrEqual(2 ** 20);
  const large = client.allocate(200 * 2 ** 20);
  expect(client.memory().allocatedBytes).toBeGreaterThan(200 * 2 ** 20);
  client.deallocate(large.id);
  expect(client.memory().allocatedBytes).toBeLessThanOrEqual(2 ** 20);
  await client.dispose();
});
