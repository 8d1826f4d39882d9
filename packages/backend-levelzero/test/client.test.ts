import { describe, expect, it } from 'vitest';
import { opened } from '../../backend-cpu/test/opened.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { defineKernel } from '../src/kernels/kernel.ts';
import { addModule, affine, filled, withoutEnd } from './support/kernels.ts';
import { replaced } from './support/replaced.ts';
import { launchAffine, memory, readBytes, readFloats, slice, upload } from './support/spans.ts';

const client = opened(() => LevelZeroClient.open());

describe('a read that is given up', () => {
  it('keeps its staging memory until the device is done with it', async () => {
    // A client of its own has staging memory for nothing else.
    const own = await LevelZeroClient.open();
    try {
      const bytes = 2 ** 20;
      const [source, target, large] = [memory(own, bytes), memory(own, bytes), memory(own, 256 * 2 ** 20)];
      own.fill(source, 1);
      await own.finish();
      for (let turn = 0; turn < 8; turn++) own.fill(large, turn);
      let delivered = 0;
      await own.read(
        source,
        () => delivered++,
        () => false,
      );
      own.write(target, new Uint8Array(bytes).fill(2));
      const got = await readBytes(own, target);
      expect(got.every((byte) => byte === 2)).toBe(true);
      expect(delivered).toBe(0);
    } finally {
      await own.dispose();
    }
  });
});

describe('kernels', () => {
  it('of users may follow pointers in memory; those of the ops have none, and keep nothing resident', async () => {
    const x = upload(client, [3]);
    const asked: unknown[] = [];
    const zeKernelSetIndirectAccess = {
      call: (original: (...args: unknown[]) => number, args: unknown[]) => {
        asked.push(args[1]);
        return original(...args);
      },
    };
    await replaced(client, { zeKernelSetIndirectAccess }, async () => {
      launchAffine(client, x, 1, 1);
      expect(asked).toEqual([]);
      const args = [{ pointer: x }, { pointer: x }, { pointer: x }, { f32: 1 }];
      client.launch(client.load(addModule(), { name: 'indirect', flags: '-g' }), 'add', args, [1, 1, 1], {
        groupSize: [1, 1, 1],
      });
      await client.finish();
    });
    const [host, device, shared] = [1, 2, 4];
    expect(asked).toEqual([host + device + shared]);
    expect(await readFloats(client, x)).toEqual([8]);
  });

  it('get specialisation constants', async () => {
    const x = memory(client, 8);
    for (const [index, value] of [7, 4_000_000_000].entries()) {
      client.record('filled', (recorder) =>
        recorder.launch({ kernel: filled(value), args: { x: slice(x, 4 * index, 4) }, groups: [1, 1, 1] }),
      );
    }
    expect([...new Uint32Array((await readBytes(client, x)).buffer)]).toEqual([7, 4_000_000_000]);
  });

  it('are built ahead by compile, once', async () => {
    const kernel = filled(123);
    await Promise.all([client.compile(kernel), client.compile(kernel)]);
    const x = memory(client, 4);
    client.record('filled', (recorder) => recorder.launch({ kernel, args: { x }, groups: [1, 1, 1] }));
    await client.compile(kernel);
    expect([...new Uint32Array((await readBytes(client, x)).buffer)]).toEqual([123]);
  });

  it('with more groups than the device launches are refused', () => {
    const x = memory(client, 4);
    const groups: [number, number, number] = [2 ** 33, 1, 1];
    const args = { x, count: 1, scale: 1, shift: 0 };
    expect(() => client.record('affine', (recorder) => recorder.launch({ kernel: affine, args, groups }))).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', detail: expect.stringContaining('groups along x') }),
    );
  });

  it('without an argument are a mistake of ours', () => {
    const x = memory(client, 4);
    const launch = { kernel: affine, args: { x, count: 1, scale: 1 }, groups: [1, 1, 1] } as const;
    expect(() => client.record('affine', (recorder) => recorder.launch(launch))).toThrow('shift is not given');
  });
});

describe('a module that is not valid', () => {
  it('is an error with the log of the build', () => {
    expect(() => client.load(withoutEnd(), { name: 'broken' })).toThrow(
      expect.objectContaining({
        code: 'DEVICE_ERROR',
        status: expect.any(Number),
        detail: expect.stringMatching(/^broken does not build: ZE_RESULT_ERROR_\w+ \(0x[0-9a-f]+\): .{10,}/s),
      }),
    );
  });

  it('also when built ahead', async () => {
    const kernel = {
      ...defineKernel({ name: 'broken', parameters: {}, groupSize: [1, 1, 1], write: () => undefined }),
    };
    await expect(client.compile({ ...kernel, words: withoutEnd })).rejects.toMatchObject({ code: 'DEVICE_ERROR' });
  });

  it('and the client works on', async () => {
    const x = upload(client, [20]);
    launchAffine(client, x, 2, 2);
    expect(await readFloats(client, x)).toEqual([42]);
  });
});

describe('modules of users', () => {
  it('with arguments that do not fit are refused', () => {
    const module = client.load(addModule(), { name: 'add' });
    const one: [number, number, number] = [1, 1, 1];
    const p = { pointer: memory(client, 16) };
    const refused = (call: () => void, message: string): void =>
      expect(call).toThrow(
        expect.objectContaining({ code: 'INVALID_ARGUMENT', detail: expect.stringContaining(message) }),
      );
    refused(() => client.launch(module, 'sub', [], one), 'add has no kernel "sub"');
    refused(() => client.launch(module, 'add', [p], one, { groupSize: one }), 'takes 4 arguments, got 1');
    refused(() => client.launch(module, 'add', [p, p, p, { f32: 1 }], one), 'pass groupSize');
    refused(() => client.launch(module, 'add', [p, p, p, { f32: 1 }], [0, 1, 1]), 'groups must be');
    const unknown = [p, p, p, { f8: 1 } as never];
    refused(() => client.launch(module, 'add', unknown, one, { groupSize: one }), 'no type "f8"');
  });
});

it('what is disposed is not used again', async () => {
  const other = await LevelZeroClient.open();
  await other.dispose();
  await other.dispose();
  expect(() => other.allocate(4)).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
});
