// @ts-check
// Set-up in its own cache. The packages of the checkout's cache are in it, so nothing is downloaded.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cache as realCache, devices } from '../lib/cache.mjs';
import { unobtainable } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';
import { describeSetUp, describeWithoutCompiler } from './describe-setup.mjs';

// The quicker to make, where there is a choice.
const device = unobtainable('swiftshader') ? 'lavapipe' : 'swiftshader';
const driver = { lavapipe: 'libvulkan_lvp.so', swiftshader: 'libvk_swiftshader.so' }[device];
const cache = mkdtempSync(join(tmpdir(), 'concord-vulkan-'));

/** @type {import('./describe-setup.mjs').SetUp} */
const vulkan = {
  script: fileURLToPath(new URL('../setup.mjs', import.meta.url)),
  args: [device],
  cache,
  env: { ...process.env, CONCORD_VULKAN_CACHE: cache },
  folder: join(cache, device),
  ready: `cache.readyDevice('${device}')`,
  cacheModule: new URL('../lib/cache.mjs', import.meta.url).href,
  makes: 'building the shim',
  isReady: `vulkan: ${device} is ready: `,
  library: join('lib', driver),
  others: ['libvulkan.so.1'],
};

beforeAll(() => {
  setUp();
  for (const folder of ['packages', 'lists'])
    if (existsSync(join(realCache, folder))) cpSync(join(realCache, folder), join(cache, folder), { recursive: true });
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

describeSetUp(vulkan);

test('to ask what is ready takes under 50 ms of CPU time', () => {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    setUp(devices.filter((candidate) => !unobtainable(candidate)));
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});

describeWithoutCompiler(
  vulkan,
  join(cache, 'bin'),
  /^vulkan: \w+ not available: there is no C compiler; run: (sudo )?apt-get install -y --no-install-recommends gcc libc6-dev\n$/,
);
