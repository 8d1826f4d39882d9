import { expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { driverSwitches } from './support/live-objects.ts';
import { launchAffine, memory, upload } from './support/spans.ts';

// In its own file: the device is lost for the whole process.

it('waits end at once when the device is lost in the middle of a long kernel', async () => {
  const client = await LevelZeroClient.open();
  const failures: string[] = [];
  client.onFailure((error) => failures.push(error.code));
  const x = upload(client, [1, 2, 3]);
  await client.finish();
  const { delayNext, lose } = driverSwitches(client);
  delayNext(20e9);
  launchAffine(client, x, 2, 1);
  const waits = [client.finish(), client.read(x, () => expect.unreachable()), client.finish()];
  setTimeout(lose, 20);
  const lost = {
    code: 'DEVICE_LOST',
    status: 0x70000001,
    detail: expect.stringContaining('ZE_RESULT_ERROR_DEVICE_LOST'),
  };
  for (const wait of waits) await expect(wait).rejects.toMatchObject(lost);
  expect(failures).toEqual(['DEVICE_LOST']);
  expect(() => memory(client, 4)).toThrow(expect.objectContaining({ code: 'DEVICE_LOST' }));
  expect(() => launchAffine(client, x, 1, 1)).toThrow(expect.objectContaining({ code: 'DEVICE_LOST' }));
  await client.dispose();
  await expect(LevelZeroClient.open()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE', reason: 'failed' });
});
