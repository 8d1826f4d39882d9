import { expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { affine } from './support/kernels.ts';
import { replaced } from './support/replaced.ts';
import { readFloats, upload } from './support/spans.ts';

const client = opened(() => LevelZeroClient.open());

/** The number of lists that go to the device for a number of launches with a declared number of multiply-adds each. */
async function listsFor(launches: number, multiplyAdds: number): Promise<number> {
  const x = upload(client, [1]);
  let lists = 0;
  const zeCommandQueueExecuteCommandLists = {
    call: (original: (...args: unknown[]) => number, args: unknown[]) => {
      lists++;
      return original(...args);
    },
  };
  client.flush();
  await replaced(client, { zeCommandQueueExecuteCommandLists }, async () => {
    for (let i = 0; i < launches; i++) {
      client.record('affine', (recorder) =>
        recorder.launch({
          kernel: affine,
          args: { x, count: 1, scale: 1, shift: 1 },
          groups: [1, 1, 1],
          multiplyAdds,
        }),
      );
    }
    await client.finish();
  });
  expect(await readFloats(client, x)).toEqual([1 + launches]);
  return lists;
}

it('a list is submitted after about a second of work, by the estimate', async () => {
  const second = 2e10 * client.traits.computeUnits;
  expect(await listsFor(10, second / 1000)).toBe(1);
  expect(await listsFor(10, second / 2)).toBe(5);
  expect(await listsFor(4, 10 * second)).toBe(4);
});
