// @ts-check
// Set-up in its own cache, and what uses its result.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeSetUp, describeWithoutCompiler } from '../../vulkan/test/describe-setup.mjs';
import { driver } from '../lib/cache.mjs';
import { setUp } from '../setup.mjs';

const runScript = fileURLToPath(new URL('../run.mjs', import.meta.url));
const preloadModule = new URL('../preload.mjs', import.meta.url).href;
const here = fileURLToPath(new URL('.', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'concord-level-zero-setup-'));
const cache = join(folder, 'cache');
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

/** @type {import('../../vulkan/test/describe-setup.mjs').SetUp} */
const levelZero = {
  script: fileURLToPath(new URL('../setup.mjs', import.meta.url)),
  cache,
  env,
  folder: cache,
  ready: 'cache.readyDriver()',
  cacheModule: new URL('../lib/cache.mjs', import.meta.url).href,
  makes: 'building the driver',
  isReady: 'level-zero-cpu: the driver is ready: ',
  library: 'libze_concord_cpu.so',
  others: ['libze_concord_cpu.so'],
};

beforeAll(() => expect(setUp()).toBe(true));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeSetUp(levelZero);

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

describeWithoutCompiler(
  levelZero,
  join(folder, 'bin'),
  /^level-zero-cpu: not available: gcc missing; run: (sudo )?apt-get install -y --no-install-recommends gcc\n$/,
);
