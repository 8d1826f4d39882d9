// @ts-check
// Set-up in its own cache. The packages of the checkout's cache are in it, so nothing is downloaded.
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unsupported } from '../../vulkan/lib/system.mjs';
import { describeSetUp } from '../../vulkan/test/describe-setup.mjs';
import { cache as realCache, readyDriver } from '../lib/cache.mjs';
import { unobtainable } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';

const cache = mkdtempSync(join(tmpdir(), 'concord-intel-setup-'));
const library = (/** @type {string} */ name) => `usr/lib/x86_64-linux-gnu/${name}`;

test.skipIf(unsupported() !== undefined).each([
  ['ID=debian\nVERSION_ID="12"\n', 'x64', undefined],
  ['ID=debian\nVERSION_ID="12"\n', 'arm64', "Intel's driver is for x64, and this is arm64"],
  ['PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian\nVERSION_ID="13"\n', 'x64', /12, and this is Debian .* 13/],
  ['PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID="24.04"\n', 'x64', /this is Ubuntu 24/],
  ['', 'x64', /this is an unknown system/],
])('%j on %s: not to be had because of %s', (system, architecture, reason) => {
  const said = unobtainable(system, architecture);
  if (reason instanceof RegExp) expect(said).toMatch(reason);
  else expect(said).toBe(reason);
});

// Minutes, for a machine that has downloaded nothing yet.
beforeAll(() => void setUp());
afterAll(() => rmSync(cache, { recursive: true, force: true }));

test('the driver is ready, or this system cannot have it', () => {
  expect(readyDriver() === undefined).toBe(unobtainable() !== undefined);
});

describe.skipIf(unobtainable() !== undefined)('in its own cache', () => {
  beforeAll(() => {
    for (const folder of ['packages', 'lists'])
      if (existsSync(join(realCache, folder)))
        cpSync(join(realCache, folder), join(cache, folder), { recursive: true });
  });

  describeSetUp({
    script: fileURLToPath(new URL('../setup.mjs', import.meta.url)),
    cache,
    env: { ...process.env, CONCORD_INTEL_DRIVER_CACHE: cache, CONCORD_NO_INSTALL: '1' },
    folder: join(cache, 'driver'),
    ready: 'cache.readyDriver()',
    cacheModule: new URL('../lib/cache.mjs', import.meta.url).href,
    makes: 'unpacking',
    isReady: "intel-driver: Intel's driver is ready: ",
    library: library('libigc.so.1'),
    others: [library('libze_intel_gpu.so.1')],
  });
});
