// @ts-check
// Set-up in its own cache, and what uses its result.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTwiceAtOnce } from '../../vulkan/test/at-once.mjs';
import { driver } from '../lib/cache.mjs';
import { setUp } from '../setup.mjs';

const script = fileURLToPath(new URL('../setup.mjs', import.meta.url));
const runScript = fileURLToPath(new URL('../run.mjs', import.meta.url));
const cacheModule = new URL('../lib/cache.mjs', import.meta.url).href;
const preloadModule = new URL('../preload.mjs', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'concord-level-zero-setup-'));
const cache = join(folder, 'cache');
const file = (/** @type {string[]} */ ...path) => join(cache, ...path);
const env = { ...process.env, CONCORD_LEVEL_ZERO_CACHE: cache };

/** @param {string[]} args @param {Record<string, string>} [more] */
function node(args, more) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    cwd: here,
    env: { ...env, ...more },
  });
  return { status, stdout, stderr };
}

const success = { status: 0, stdout: expect.stringContaining('level-zero-cpu: the driver is ready: '), stderr: '' };

/** Asked in another process: this one's cache is the checkout's. */
function isReady() {
  const code = `import(${JSON.stringify(cacheModule)}).then(({ readyDriver }) => console.log(!!readyDriver()))`;
  return node(['-e', code]).stdout === 'true\n';
}

/** Changes what set-up noted. @param {object} change */
function note(change) {
  const noted = JSON.parse(readFileSync(file('ready.json'), 'utf8'));
  writeFileSync(file('ready.json'), JSON.stringify({ ...noted, ...change }));
}

beforeAll(() => expect(setUp()).toBe(true));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('two runs at once: one waits for the other, and what a stopped run left is cleared away', async () => {
  mkdirSync(file('work'), { recursive: true });
  writeFileSync(file('work', 'half'), '');
  const { codes, count } = await runTwiceAtOnce([script], env);
  expect(codes).toEqual([0, 0]);
  expect([count('building the driver'), count('waiting for it'), count('is ready')]).toEqual([1, 1, 2]);
  expect(existsSync(file('work'))).toBe(false);
});

test('a second run does nothing', () => {
  const before = statSync(file('ready.json')).mtimeMs;
  const result = node([script]);
  expect(result).toEqual(success);
  expect(result.stdout.trim().split('\n')).toHaveLength(1);
  expect(statSync(file('ready.json')).mtimeMs).toBe(before);
});

test.each([
  ['a truncated driver', () => truncateSync(file('libze_concord_cpu.so'), 4096)],
  ['a missing driver', () => rmSync(file('libze_concord_cpu.so'))],
  ['a note that is cut off', () => truncateSync(file('ready.json'), 100)],
  ['a library that left the system', () => note({ system: ['/lib/libgone.so.1'] })],
  ['a driver made from other sources', () => note({ key: '' })],
])('%s is noticed', (_what, damage) => {
  const whole = join(folder, 'whole');
  cpSync(cache, whole, { recursive: true });
  expect(isReady()).toBe(true);
  damage();
  expect(isReady()).toBe(false);
  rmSync(cache, { recursive: true });
  renameSync(whole, cache);
});

test('a damaged driver is mended', () => {
  const size = statSync(file('libze_concord_cpu.so')).size;
  truncateSync(file('libze_concord_cpu.so'), 4096);
  expect(node([script])).toEqual(success);
  expect(statSync(file('libze_concord_cpu.so')).size).toBe(size);
  expect(isReady()).toBe(true);
});

const deviceName = `
  import koffi from 'koffi';
  const { useDriver } = await import(${JSON.stringify(preloadModule)});
  if (process.argv[1] === 'preload') console.log(useDriver());
  const loader = koffi.load('libze_loader.so.1');
  const call = (name, ...args) => {
    const result = loader.func(name, 'uint32', args.map(() => 'void *'))(...args);
    if (result !== 0) throw new Error(name + ' gives 0x' + result.toString(16));
  };
  if (loader.func('zeInit', 'uint32', ['uint32'])(0) !== 0) throw new Error('zeInit fails');
  const one = new Uint32Array([1]), handle = new BigUint64Array(1), properties = new Uint8Array(368);
  call('zeDriverGet', one, handle);
  call('zeDeviceGet', handle[0], one, handle);
  new DataView(properties.buffer).setUint32(0, 3, true);
  call('zeDeviceGetProperties', handle[0], properties);
  console.log(new TextDecoder().decode(properties.subarray(112)).replace(/\\0.*/s, ''));
`;

test('a process that preloads it sees this device', () => {
  const { status, stdout, stderr } = node(['--input-type=module', '-e', deviceName, 'preload']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [stamp, name, ...rest] = stdout.trim().split('\n');
  expect(name).toMatch(/^Concord Level Zero CPU \(.+\)$/);
  expect({ stamp, rest }).toEqual({ stamp: name, rest: [] });
});

test('a command that run.mjs starts sees this device, and ends as it ends', () => {
  const { status, stdout } = node([runScript, process.execPath, '--input-type=module', '-e', deviceName, 'no']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^Concord Level Zero CPU \(.+\)\n$/) });
  expect(node([runScript, process.execPath, '-e', 'process.exit(7)']).status).toBe(7);
  expect(node([runScript]).status).toBe(2);
});

test('nothing is preloaded that is not set up', () => {
  const code = `import { useDriver } from ${JSON.stringify(preloadModule)}; useDriver();`;
  const { status, stderr } = node(['--input-type=module', '-e', code], {
    CONCORD_LEVEL_ZERO_CACHE: join(folder, 'none'),
  });
  expect(status).toBe(1);
  expect(stderr).toContain('not set up; run: node software-devices/level-zero-cpu/setup.mjs');
  expect(existsSync(driver)).toBe(true);
});

test('without a compiler, CONCORD_NO_INSTALL=1 names the command and installs nothing', () => {
  const empty = join(folder, 'empty');
  // A PATH without cc; apt-get is not on it either, so an attempt to install could only fail in other words.
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  symlinkSync('/usr/bin/flock', join(programs, 'flock'));
  const { status, stdout, stderr } = node([script], {
    CONCORD_LEVEL_ZERO_CACHE: empty,
    PATH: programs,
    CONCORD_NO_INSTALL: '1',
  });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(
    /^level-zero-cpu: not available: gcc missing; run: (sudo )?apt-get install -y --no-install-recommends gcc\n$/,
  );
  expect(existsSync(join(empty, 'libze_concord_cpu.so'))).toBe(false);
});
