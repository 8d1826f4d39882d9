// @ts-check
// Set-up in its own cache. The packages of the checkout's cache are in it, so nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTwiceAtOnce } from '../../vulkan/test/at-once.mjs';
import { unsupported } from '../../vulkan/lib/system.mjs';
import { cache as realCache, readyDriver } from '../lib/cache.mjs';
import { unobtainable } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';

const script = fileURLToPath(new URL('../setup.mjs', import.meta.url));
const cacheModule = new URL('../lib/cache.mjs', import.meta.url).href;
const cache = mkdtempSync(join(tmpdir(), 'concord-intel-setup-'));
const file = (/** @type {string[]} */ ...path) => join(cache, 'driver', ...path);
const env = { ...process.env, CONCORD_INTEL_DRIVER_CACHE: cache, CONCORD_NO_INSTALL: '1' };

const library = (/** @type {string} */ name) => file('usr/lib/x86_64-linux-gnu', name);

function setup() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

const success = { status: 0, stdout: expect.stringContaining("intel-driver: Intel's driver is ready: "), stderr: '' };

/** Asked in another process: this one's cache is the checkout's. */
function isReady() {
  const code = `import(${JSON.stringify(cacheModule)}).then(({ readyDriver }) => console.log(!!readyDriver()))`;
  return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', env }).stdout === 'true\n';
}

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

  test('two runs at once: one waits for the other, and what a stopped run left is cleared away', async () => {
    mkdirSync(join(cache, 'work'), { recursive: true });
    writeFileSync(join(cache, 'work', 'half'), '');
    const { codes, count } = await runTwiceAtOnce([script], env);
    expect(codes).toEqual([0, 0]);
    expect([count('unpacking'), count('waiting for it'), count('is ready')]).toEqual([1, 1, 2]);
    expect([existsSync(join(cache, 'work')), existsSync(file('half'))]).toEqual([false, false]);
  });

  test('a second run does nothing', () => {
    const before = statSync(file('ready.json')).mtimeMs;
    const result = setup();
    expect(result).toEqual(success);
    expect(result.stdout.trim().split('\n')).toHaveLength(1);
    expect(statSync(file('ready.json')).mtimeMs).toBe(before);
  });

  test.each([
    ['a truncated compiler', () => truncateSync(library('libigc.so.1'), 4096)],
    ['a missing driver', () => rmSync(library('libze_intel_gpu.so.1'))],
    ['a note that is cut off', () => truncateSync(file('ready.json'), 100)],
    ['a driver of another system', () => noteKey('')],
  ])('%s is noticed', (_what, damage) => {
    const kept = ['libigc.so.1', 'libze_intel_gpu.so.1'].map((name) => ({ name, bytes: readFileSync(library(name)) }));
    const note = readFileSync(file('ready.json'));
    expect(isReady()).toBe(true);
    damage();
    expect(isReady()).toBe(false);
    for (const { name, bytes } of kept) writeFileSync(library(name), bytes);
    writeFileSync(file('ready.json'), note);
  });

  test('a damaged driver is mended from the packages that are kept', () => {
    const { size } = statSync(library('libigc.so.1'));
    truncateSync(library('libigc.so.1'), 4096);
    const result = setup();
    expect(result).toEqual(success);
    expect(result.stdout).not.toContain('fetching');
    expect(statSync(library('libigc.so.1')).size).toBe(size);
    expect(isReady()).toBe(true);
  });
});

/** @param {string} key */
function noteKey(key) {
  const noted = JSON.parse(readFileSync(file('ready.json'), 'utf8'));
  writeFileSync(file('ready.json'), JSON.stringify({ ...noted, key }));
}
