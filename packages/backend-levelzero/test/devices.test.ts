import { afterAll, expect, it } from 'vitest';
import { listDevices } from '../src/device/list-devices.ts';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { loadLevelZero } from '../src/ffi/load.ts';
import { launchAffine, readFloats, upload } from './support/spans.ts';

// Read when the driver starts, which is the first thing that a test here does.
process.env['LEVEL_ZERO_CPU_SUB_DEVICES'] = '2';
afterAll(() => {
  delete process.env['LEVEL_ZERO_CPU_SUB_DEVICES'];
});

it('the software driver is listed for what it is', async () => {
  const [device, ...others] = listDevices(await loadLevelZero());
  expect(others).toEqual([]);
  expect(device).toMatchObject({
    isCpu: true,
    info: {
      vendor: 'pocl',
      name: expect.stringMatching(/^Concord Level Zero CPU \(.+\)$/),
      type: 'software',
      driver: expect.stringMatching(/^Level Zero 1\.\d+, driver 1\.0\.\d+$/),
      memoryBytes: expect.any(Number),
      computeUnits: expect.any(Number),
      subDevices: 2,
    },
  });
  expect(device?.subDevices.map(({ info }) => info.type)).toEqual(['software', 'software']);
});

it('each sub-device can be opened, and two at once', async () => {
  const clients = await Promise.all([0, 1].map((subDevice) => LevelZeroClient.open({ device: 'concord', subDevice })));
  const spans = clients.map((client, index) => upload(client, [index, 10]));
  for (const [index, client] of clients.entries()) launchAffine(client, spans[index] as never, 2, 1);
  const got = await Promise.all(clients.map((client, index) => readFloats(client, spans[index] as never)));
  expect(got).toEqual([
    [1, 21],
    [3, 21],
  ]);
  for (const client of clients) await client.dispose();
  await expect(LevelZeroClient.open({ subDevice: 2 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  await expect(LevelZeroClient.open({ subdevice: 0 } as object)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    detail: 'options has no field subdevice; did you mean subDevice?',
  });
});

it('traits are as kernels need them', async () => {
  const client = await LevelZeroClient.open();
  expect(client.traits).toMatchObject({ isCpuLike: true, hasF64: expect.any(Boolean), hasF16: expect.any(Boolean) });
  for (const limit of ['maxGroupSize', 'maxLocalBytes', 'computeUnits', 'maxAllocationBytes'] as const) {
    expect([limit, client.traits[limit] >= 1]).toEqual([limit, true]);
  }
  expect(client.traits.maxGroups.every((count) => count >= 65_535)).toBe(true);
  await client.dispose();
});
