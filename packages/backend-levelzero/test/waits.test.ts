import { afterAll, beforeAll, expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { type DriverSwitches, driverSwitches } from './support/live-objects.ts';
import { launchAffine, readFloats, upload } from './support/spans.ts';

let client: LevelZeroClient;
let switches: DriverSwitches;
beforeAll(async () => {
  client = await LevelZeroClient.open();
  switches = driverSwitches(client);
});
afterAll(() => client.dispose());

/** The longest time between two turns of the event loop until `work` is done, in milliseconds. */
async function worstGap(work: Promise<unknown>): Promise<number> {
  let worst = 0;
  let last = performance.now();
  let isDone = false;
  const settled = work.finally(() => (isDone = true));
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = performance.now();
    worst = Math.max(worst, now - last);
    last = now;
  }
  await settled;
  return worst;
}

it('the event loop keeps turning during a kernel of one second', async () => {
  const x = upload(client, [1]);
  await client.finish();
  switches.delayNext(1e9);
  launchAffine(client, x, 1, 1);
  const start = performance.now();
  const gap = await worstGap(client.finish());
  const took = performance.now() - start;
  console.log(`worst gap ${gap.toFixed(1)} ms in ${took.toFixed(0)} ms`);
  expect(took).toBeGreaterThan(900);
  expect(gap).toBeLessThan(100);
  expect(await readFloats(client, x)).toEqual([2]);
});

it('a wait that nobody wants any more ends, and a later one succeeds', async () => {
  const x = upload(client, [1]);
  await client.finish();
  switches.delayNext(1.5e9);
  launchAffine(client, x, 3, 0);
  let isWanted = true;
  setTimeout(() => (isWanted = false), 50);
  const start = performance.now();
  await client.finish(() => isWanted);
  expect(performance.now() - start).toBeLessThan(1200);
  expect(await readFloats(client, x)).toEqual([3]);
});

it('several waits end in order, each when its own work is done', async () => {
  const x = upload(client, [0]);
  await client.finish();
  const order: string[] = [];
  const wait = async (name: string): Promise<void> => {
    switches.delayNext(5e7);
    launchAffine(client, x, 1, 1);
    await client.finish();
    order.push(name);
  };
  await Promise.all([wait('a'), wait('b'), wait('c')]);
  expect(order).toEqual(['a', 'b', 'c']);
  expect(await readFloats(client, x)).toEqual([3]);
});
