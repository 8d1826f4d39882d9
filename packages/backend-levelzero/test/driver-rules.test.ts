import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { STRUCTS } from '../src/ffi/structs.ts';
import { driverSwitches } from './support/live-objects.ts';
import { type Replacement, replaced } from './support/replaced.ts';
import { launchAffine, memory, readFloats, upload } from './support/spans.ts';

// What a real driver would not forgive, and what it may answer: shown with functions of Level Zero in our versions.

const MiB = 2 ** 20;
const UNKNOWN = 0x7ffffffe;

const watcher = opened(() => LevelZeroClient.open());
const switches = driverSwitches(watcher);

it('no fence is reset or destroyed while a thread waits at it', async () => {
  const awaited = new Set<unknown>();
  const mistakes: string[] = [];
  const guarded = (name: string): Replacement => ({
    call: (original, args) => {
      if (awaited.has(args[0])) mistakes.push(name);
      return original(...args);
    },
  });
  await replaced(
    watcher,
    {
      zeFenceHostSynchronize: {
        onAsync: (fence, isBegin) => void (isBegin ? awaited.add(fence) : awaited.delete(fence)),
      },
      zeFenceReset: guarded('reset'),
      zeFenceDestroy: guarded('destroy'),
      zeContextDestroy: {
        call: (original, args) => {
          if (awaited.size > 0) mistakes.push('context');
          return original(...args);
        },
      },
    },
    async () => {
      const client = await LevelZeroClient.open();
      const x = upload(client, [1]);
      await client.finish();
      switches.delayNext(2e7);
      launchAffine(client, x, 1, 1);
      const wait = client.finish();
      expect(awaited.size).toBe(1);
      // The work ends while this thread is busy, which then sees that before it hears of it from the other thread.
      const start = performance.now();
      while (performance.now() - start < 60);
      client.deallocate(client.allocate(70 * MiB).id);
      expect(await readFloats(client, x)).toEqual([2]);
      await wait;
      switches.delayNext(2e7);
      launchAffine(client, x, 1, 1);
      let isWanted = true;
      const unwanted = client.finish(() => isWanted);
      isWanted = false;
      const again = performance.now();
      while (performance.now() - again < 60);
      await client.dispose();
      await unwanted;
    },
  );
  expect(mistakes).toEqual([]);
});

it('arguments are set again when memory was freed: the same address may be other memory', async () => {
  const client = await LevelZeroClient.open();
  let set = 0;
  const counted: Replacement = {
    call: (original, args) => {
      set++;
      return original(...args);
    },
  };
  await replaced(client, { zeKernelSetArgumentValue: counted }, async () => {
    const x = upload(client, [1]);
    launchAffine(client, x, 1, 1);
    expect(set).toBe(4);
    launchAffine(client, x, 1, 1);
    expect(set).toBe(4);
    const large = client.allocate(70 * MiB);
    await client.finish();
    client.deallocate(large.id);
    launchAffine(client, x, 1, 1);
    expect(set).toBe(8);
    expect(await readFloats(client, x)).toEqual([4]);
  });
  await client.dispose();
});

it('work that the queue refuses fails all waits at once, and dispose too does not wait for it', async () => {
  const client = await LevelZeroClient.open();
  const x = upload(client, [1]);
  await client.finish();
  const refuse: Replacement = { call: () => UNKNOWN };
  const error = { code: 'DEVICE_ERROR', status: UNKNOWN, op: 'affine' };
  await replaced(client, { zeCommandQueueExecuteCommandLists: refuse }, async () => {
    launchAffine(client, x, 1, 1);
    await expect(client.finish()).rejects.toMatchObject(error);
  });
  await expect(client.finish()).rejects.toMatchObject(error);
  await expect(client.read(x, () => expect.unreachable())).rejects.toMatchObject(error);
  const ended = await Promise.race([client.dispose().then(() => 'disposed'), delay(2_000, 'still waiting')]);
  expect(ended).toBe('disposed');
});

it('large memory that was freed goes back to the device with the next wait', async () => {
  const client = await LevelZeroClient.open();
  const large = memory(client, 70 * MiB);
  client.fill(large, 1);
  client.deallocate(large.buffer.id);
  await client.finish();
  expect(client.memory()).toMatchObject({ allocatedBytes: 0, retiredBytes: 0 });
  await client.dispose();
});

it('a large read takes no more host memory than it needs', async () => {
  const client = await LevelZeroClient.open();
  const sizes: unknown[] = [];
  const noted: Replacement = {
    call: (original, args) => {
      sizes.push(args[2]);
      return original(...args);
    },
  };
  const large = memory(client, 65 * MiB + 1);
  client.fill(large, 7);
  await client.finish();
  await replaced(client, { zeMemAllocHost: noted }, () =>
    client.read(large, (bytes) => expect([bytes.length, bytes[0], bytes.at(-1)]).toEqual([65 * MiB + 1, 7, 7])),
  );
  expect(sizes).toEqual([66 * MiB]);
  await client.dispose();
});

it('a device that does not describe itself is unavailable', async () => {
  await replaced(watcher, { zeDeviceGetProperties: { call: () => UNKNOWN } }, async () => {
    await expect(LevelZeroClient.open()).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      reason: 'failed',
      detail: expect.stringContaining('zeDeviceGetProperties returned ZE_RESULT_ERROR_UNKNOWN'),
    });
  });
});

it('queue and lists are of the group of queues that compute', async () => {
  const ordinals: number[] = [];
  const groups: Replacement = {
    call: (_original, [, count, bytes]) => {
      (count as Uint32Array)[0] = 2;
      // The first copies only.
      const { size, fields } = STRUCTS.ze_command_queue_group_properties_t;
      for (const [index, flags] of [2, 1].entries()) {
        if (bytes !== null)
          Buffer.from((bytes as Uint8Array).buffer).writeUInt32LE(flags, index * size + fields.flags[0]);
      }
      return 0;
    },
  };
  const noted = (at: number): Replacement => ({
    call: (original, args) => {
      const description = Buffer.from(args[2] as Uint8Array);
      ordinals.push(description.readUInt32LE(at));
      // The driver has one group.
      description.writeUInt32LE(0, at);
      return original(args[0], args[1], new Uint8Array(description), args[3]);
    },
  });
  await replaced(
    watcher,
    {
      zeDeviceGetCommandQueueGroupProperties: groups,
      zeCommandQueueCreate: noted(STRUCTS.ze_command_queue_desc_t.fields.ordinal[0]),
      zeCommandListCreate: noted(STRUCTS.ze_command_list_desc_t.fields.commandQueueGroupOrdinal[0]),
    },
    async () => {
      const client = await LevelZeroClient.open();
      const x = upload(client, [1]);
      launchAffine(client, x, 2, 1);
      expect(await readFloats(client, x)).toEqual([3]);
      await client.dispose();
    },
  );
  expect(new Set(ordinals)).toEqual(new Set([1]));
  expect(ordinals.length).toBeGreaterThan(1);
});
