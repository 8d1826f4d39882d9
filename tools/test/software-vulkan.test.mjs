// @ts-check
import { delimiter } from 'node:path';
import { expect, test } from 'vitest';
import { folderOf, readyDevice } from '../../software-devices/vulkan/lib/cache.mjs';
import { softwareVulkan } from '../lib/software-devices.mjs';

const yes = () => true;
const no = () => false;

test("a Vulkan of the machine's own is used where it works, and is not tried where WebGPU is not asked for", () => {
  expect(softwareVulkan({ isWanted: true, hasLoader: yes, works: yes })).toEqual({});
  const works = () => expect.fail('it was tried');
  expect(softwareVulkan({ isWanted: false, hasLoader: yes, works })).toEqual({});
});

test.skipIf(readyDevice('lavapipe') === undefined)(
  'the software device comes in beside a loader without a driver',
  () => {
    const beside = softwareVulkan({ isWanted: true, hasLoader: yes, works: no });
    expect(beside['LD_LIBRARY_PATH']?.split(delimiter)[0]).toBe(folderOf('lavapipe'));
    expect(softwareVulkan({ isWanted: false, hasLoader: no, works: no })).toEqual(beside);
  },
);
