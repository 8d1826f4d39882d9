// @ts-check
// Set-up in its own cache. The packages of the checkout's cache are in it, so nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cache as realCache, devices } from '../lib/cache.mjs';
import { unobtainable } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';
import { runTwiceAtOnce } from './at-once.mjs';

const script = fileURLToPath(new URL('../setup.mjs', import.meta.url));
const cacheModule = new URL('../lib/cache.mjs', import.meta.url).href;
// The quicker to make, where there is a choice.
const device = unobtainable('swiftshader') ? 'lavapipe' : 'swiftshader';
const driver = { lavapipe: 'libvulkan_lvp.so', swiftshader: 'libvk_swiftshader.so' }[device];

const cache = mkdtempSync(join(tmpdir(), 'concord-vulkan-'));
const file = (/** @type {string[]} */ ...path) => join(cache, device, ...path);
const env = { ...process.env, CONCORD_VULKAN_CACHE: cache };

/** @param {string[]} args @param {Record<string, string>} [more] */
function setup(args = [device], more) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...env, ...more },
  });
  return { status, stdout, stderr };
}

const success = { status: 0, stdout: expect.stringContaining(`vulkan: ${device} is ready: `), stderr: '' };

/** Asked in another process: this one's cache is the checkout's. */
function isReady() {
  const code = `import(${JSON.stringify(cacheModule)}).then(({ readyDevice }) => console.log(!!readyDevice('${device}')))`;
  return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', env }).stdout === 'true\n';
}

/** Changes what set-up noted. @param {object} change */
function note(change) {
  const noted = JSON.parse(readFileSync(file('ready.json'), 'utf8'));
  writeFileSync(file('ready.json'), JSON.stringify({ ...noted, ...change }));
}

beforeAll(() => {
  setUp();
  for (const folder of ['packages', 'lists'])
    if (existsSync(join(realCache, folder))) cpSync(join(realCache, folder), join(cache, folder), { recursive: true });
});

afterAll(() => rmSync(cache, { recursive: true, force: true }));

test('two runs at once: one waits for the other, and what a stopped run left is cleared away', async () => {
  mkdirSync(join(cache, 'work', device), { recursive: true });
  writeFileSync(join(cache, 'work', device, 'half'), '');
  const { codes, count } = await runTwiceAtOnce([script, device], env);
  expect(codes).toEqual([0, 0]);
  expect([count('building the shim'), count('waiting for it'), count(`${device} is ready`)]).toEqual([1, 1, 2]);
  expect([existsSync(join(cache, 'work')), existsSync(file('half'))]).toEqual([false, false]);
});

test('a second run does nothing', () => {
  const before = statSync(file('ready.json')).mtimeMs;
  const result = setup();
  expect(result).toEqual(success);
  expect(result.stdout.trim().split('\n')).toHaveLength(1);
  expect(statSync(file('ready.json')).mtimeMs).toBe(before);
});

test('to ask what is ready takes under 50 ms of CPU time', () => {
  const times = Array.from({ length: 5 }, () => {
    const start = process.cpuUsage();
    setUp(devices.filter((candidate) => !unobtainable(candidate)));
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  expect(Math.min(...times)).toBeLessThan(50);
});

test.each([
  ['a truncated driver', () => truncateSync(file('lib', driver), 4096)],
  ['a missing shim', () => rmSync(file('libvulkan.so.1'))],
  ['a note that is cut off', () => truncateSync(file('ready.json'), 100)],
  ['a library that left the system', () => note({ system: ['/lib/libgone.so.1'] })],
  ['a device made by other sources', () => note({ key: '' })],
])('%s is noticed', (_what, damage) => {
  const whole = join(cache, 'whole');
  cpSync(file(), whole, { recursive: true });
  expect(isReady()).toBe(true);
  damage();
  expect(isReady()).toBe(false);
  rmSync(file(), { recursive: true });
  renameSync(whole, file());
});

test('a damaged device is mended', () => {
  const size = statSync(file('lib', driver)).size;
  truncateSync(file('lib', driver), 4096);
  rmSync(file('libvulkan.so.1'));
  expect(setup()).toEqual(success);
  expect(statSync(file('lib', driver)).size).toBe(size);
  expect(isReady()).toBe(true);
});

test('without a compiler, CONCORD_NO_INSTALL=1 names the command and installs nothing', () => {
  rmSync(file(), { recursive: true });
  // A PATH without cc; apt-get is not on it either, so an attempt to install could only fail in other words.
  const programs = join(cache, 'bin');
  mkdirSync(programs);
  symlinkSync('/usr/bin/flock', join(programs, 'flock'));
  const { status, stdout, stderr } = setup([device], { PATH: programs, CONCORD_NO_INSTALL: '1' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^vulkan: \w+ not available: there is no C compiler; run: (sudo )?apt-get install -y --no-install-recommends gcc libc6-dev\n$/,
  );
  expect(existsSync(file())).toBe(false);
});
