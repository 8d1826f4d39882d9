import { expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { driverSwitches } from './support/live-objects.ts';
import { launchAffine, readFloats, upload } from './support/spans.ts';

const client = opened(() => LevelZeroClient.open());
const switches = driverSwitches(client);

/** The number of turns of the event loop until `work` is done, at most one each millisecond. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const settled = work.finally(() => (isDone = true));
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    turns++;
  }
  await settled;
  return turns;
}

it('the event loop keeps turning during a kernel of one second', async () => {
  const x = upload(client, [1]);
  await client.finish();
  switches.delayNext(1e9);
  launchAffine(client, x, 1, 1);
  const start = performance.now();
  const turns = await turnsDuring(client.finish());
  const took = performance.now() - start;
  // What the loop does on this machine, as busy as it is, while no kernel is waited for.
  const idle = await turnsDuring(new Promise((resolve) => setTimeout(resolve, took)));
  expect(took).toBeGreaterThan(900);
  // A wait that blocks for 20 ms at a time would leave a twentieth.
  expect(turns).toBeGreaterThan(idle / 10);
  expect(await readFloats(client, x)).toEqual([2]);
});

it('a wait that is no longer wanted ends, and a later one succeeds', async () => {
  const x = upload(client, [1]);
  await client.finish();
  switches.delayNext(1.5e9);
  launchAffine(client, x, 3, 0);
  let asked = 0;
  await client.finish(() => ++asked < 3);
  // At the first no: while the kernel runs it would be asked on and on.
  expect(asked).toBe(3);
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
