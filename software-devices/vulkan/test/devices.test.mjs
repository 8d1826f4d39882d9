// @ts-check
// Each device for real, in its own processes: Dawn takes one Vulkan per process.
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { devices, folderOf, readyDevice } from '../lib/cache.mjs';
import { unobtainable } from '../lib/make.mjs';
import { preloadVulkan } from '../preload.mjs';
import { setUp } from '../setup.mjs';

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const [runScript, compute] = [here('../run.mjs'), here('compute.mjs')];
const obtainable = devices.filter((device) => !unobtainable(device));
const [some = 'lavapipe'] = obtainable;

/** @param {string[]} args @param {Record<string, string>} [env] */
function node(args, env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

/** @param {ReturnType<typeof node>} result */
function computed({ status, stdout, stderr }) {
  expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: expect.stringMatching(/^{.*}\n$/) });
  return JSON.parse(stdout);
}

const right = { squaresAreRight: true, errors: [] };
const identity = {
  lavapipe: { vendor: 'mesa', architecture: 'software', description: expect.stringContaining('llvmpipe') },
  swiftshader: { vendor: 'google', architecture: 'swiftshader', description: expect.stringContaining('SwiftShader') },
};

// Minutes, for a machine that has downloaded nothing yet.
beforeAll(() => void setUp());

test.each(devices)('%s is ready, or its system has no package of it', (device) => {
  expect(readyDevice(device) === undefined).toBe(unobtainable(device) !== undefined);
});

describe.each(obtainable)('%s', (device) => {
  const expected = { ...right, adapter: identity[device] };

  test('computes right numbers under run.mjs, also at the end of the largest binding', () => {
    const large = { size: 2 ** 30 - 256, tailIsRight: true };
    expect(computed(node([runScript, device, process.execPath, compute, '--large']))).toEqual({ ...expected, large });
  });

  test('computes right numbers where it is preloaded', () => {
    expect(computed(node([compute, device]))).toEqual(expected);
  });

  test('computes right numbers where a worker thread preloads it', () => {
    expect(computed(node([compute, device, '--worker']))).toEqual(expected);
  });

  test('ends clean ten times in a row', () => {
    const statuses = Array.from({ length: 10 }, () => node([compute, device]).status);
    expect(statuses).toEqual(statuses.map(() => 0));
  });
});

test('CONCORD_VULKAN_DRIVER puts another driver under the shim', () => {
  const [folder, driver] = [folderOf(some), { lavapipe: 'libvulkan_lvp.so', swiftshader: 'libvk_swiftshader.so' }];
  for (const device of obtainable) {
    const env = { LD_LIBRARY_PATH: folder, CONCORD_VULKAN_DRIVER: join(folderOf(device), 'lib', driver[device]) };
    expect(computed(node([compute], env)).adapter).toEqual(identity[device]);
  }
  const { stdout, stderr } = node([compute], { LD_LIBRARY_PATH: folder, CONCORD_VULKAN_DRIVER: '/nowhere.so' });
  expect(stderr).toContain('concord: the Vulkan driver does not load: /nowhere.so');
  expect(JSON.parse(stdout)).toEqual({ adapter: null });
});

test('a test in the process of vitest itself uses a preloaded device', async () => {
  preloadVulkan(some);
  const { gpu } = await import('./dawn.mjs');
  const adapter = await gpu.requestAdapter();
  expect(adapter?.info).toMatchObject(identity[some]);
  // Again is nothing new, and another is an error instead of the wrong device.
  expect(() => preloadVulkan(some)).not.toThrow();
  for (const other of obtainable.filter((device) => device !== some)) {
    expect(() => preloadVulkan(other)).toThrow(`${other} cannot be used: this process has loaded`);
  }
});

describe('run.mjs', () => {
  test('passes arguments, output and the exit code on', () => {
    const code = 'console.log(process.argv.slice(1).join()); console.error("e"); process.exit(7)';
    const result = node([runScript, some, process.execPath, '-e', code, '--', 'a b', '--help']);
    expect(result).toEqual({ status: 7, stdout: 'a b,--help\n', stderr: 'e\n' });
  });

  test('puts the device before what LD_LIBRARY_PATH holds', () => {
    const print = 'process.stdout.write(process.env.LD_LIBRARY_PATH)';
    const { stdout } = node([runScript, some, process.execPath, '-e', print], { LD_LIBRARY_PATH: '/elsewhere' });
    expect(stdout).toBe(`${folderOf(some)}:/elsewhere`);
  });

  test('passes signals on and ends as the command did', async () => {
    const code = 'process.on("SIGTERM", () => process.exit(9)); console.log("up"); setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, [runScript, some, process.execPath, '-e', code]);
    child.stdout.once('data', () => child.kill('SIGTERM'));
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(9);
  });

  test.each([
    [['--help'], 0, 'stdout'],
    [[], 2, 'stderr'],
    [['voodoo', 'true'], 2, 'stderr'],
    [['lavapipe'], 2, 'stderr'],
  ])('%j ends with %d and the usage on %s', (args, status, stream) => {
    const result = node([runScript, ...args]);
    expect(result).toMatchObject({ status, [stream]: expect.stringMatching(/^usage: .*<lavapipe\|swiftshader>/) });
  });

  test('says which command it cannot find', () => {
    const { status, stderr } = node([runScript, some, 'no-such-command']);
    expect({ status, stderr }).toEqual({ status: 127, stderr: expect.stringContaining('cannot run no-such-command') });
  });
});
