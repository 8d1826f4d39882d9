// @ts-check
// What every set-up of a device that is made here is asked: one at a time, once, again where something is damaged.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * @typedef {object} SetUp
 * @property {string} script with its arguments: what is run
 * @property {readonly string[]} [args]
 * @property {string} cache the folder of this test's own
 * @property {NodeJS.ProcessEnv} env in which it is the cache
 * @property {string} folder of what is made, in the cache
 * @property {string} ready an expression that asks `cache.mjs`, as `cache`, whether it is ready
 * @property {string} cacheModule its URL
 * @property {string} makes a line that it says when it makes something
 * @property {string} isReady a line that it says of what is ready
 * @property {string} library in the folder, which is damaged
 * @property {readonly string[]} others of which one may be missing
 */

/** @param {SetUp} of @param {Record<string, string>} [more] */
export function runSetUp({ script, args = [], env }, more) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: 'utf8',
    env: { ...env, ...more },
  });
  return { status, stdout, stderr };
}

/** @param {SetUp} of */
export function describeSetUp(of) {
  const file = (/** @type {string[]} */ ...path) => join(of.folder, ...path);
  const success = { status: 0, stdout: expect.stringContaining(of.isReady), stderr: '' };

  /** Asked in another process: this one's cache is the checkout's. */
  const isReady = () => {
    const code = `import(${JSON.stringify(of.cacheModule)}).then((cache) => console.log(!!${of.ready}))`;
    return spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', env: of.env }).stdout === 'true\n';
  };

  /** Changes what set-up noted. @param {object} change */
  const note = (change) => {
    const noted = JSON.parse(readFileSync(file('ready.json'), 'utf8'));
    writeFileSync(file('ready.json'), JSON.stringify({ ...noted, ...change }));
  };

  test('two runs at once: one waits for the other, and what a stopped run left is cleared away', async () => {
    const work = join(of.cache, 'work');
    mkdirSync(work, { recursive: true });
    writeFileSync(join(work, 'half'), '');
    const runs = await Promise.all(
      [1, 2].map(async () => {
        const child = spawn(process.execPath, [of.script, ...(of.args ?? [])], { env: of.env });
        let output = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
        const code = await new Promise((resolve) => child.once('close', resolve));
        return { code, output };
      }),
    );
    const count = (/** @type {string} */ text) => runs.filter(({ output }) => output.includes(text)).length;
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect([count(of.makes), count('waiting for it'), count(of.isReady)]).toEqual([1, 1, 2]);
    expect([existsSync(work), existsSync(file('half'))]).toEqual([false, false]);
  });

  test('a second run does nothing', () => {
    const before = statSync(file('ready.json')).mtimeMs;
    const result = runSetUp(of);
    expect(result).toEqual(success);
    expect(result.stdout.trim().split('\n')).toHaveLength(1);
    expect(statSync(file('ready.json')).mtimeMs).toBe(before);
  });

  test.each([
    ['a truncated library', () => truncateSync(file(of.library), 4096)],
    ...of.others.map((other) => [`that ${other} is missing`, () => rmSync(file(other))]),
    ['a note that is cut off', () => truncateSync(file('ready.json'), 100)],
    ['a library that left the system', () => note({ system: ['/lib/libgone.so.1'] })],
    ['a device made by other sources', () => note({ key: '' })],
  ])('%s is noticed', (_what, damage) => {
    const whole = `${of.cache}-whole`;
    cpSync(of.folder, whole, { recursive: true });
    expect(isReady()).toBe(true);
    /** @type {() => void} */ (damage)();
    expect(isReady()).toBe(false);
    rmSync(of.folder, { recursive: true });
    renameSync(whole, of.folder);
  });

  test('a damaged device is mended, and nothing is fetched for it', () => {
    const { size } = statSync(file(of.library));
    truncateSync(file(of.library), 4096);
    const result = runSetUp(of);
    expect(result).toEqual(success);
    expect(result.stdout).not.toContain('fetching');
    expect(statSync(file(of.library)).size).toBe(size);
    expect(isReady()).toBe(true);
  });
}

/** Without a compiler the command is named, and nothing is installed. @param {SetUp} of @param {string} folder for a PATH @param {RegExp} said */
export function describeWithoutCompiler(of, folder, said) {
  test('without a compiler, CONCORD_NO_INSTALL=1 names the command and installs nothing', () => {
    rmSync(of.folder, { recursive: true });
    // A PATH without cc; apt-get is not on it either, so an attempt to install could only fail in other words.
    mkdirSync(folder, { recursive: true });
    symlinkSync('/usr/bin/flock', join(folder, 'flock'));
    const { status, stdout, stderr } = runSetUp(of, { PATH: folder, CONCORD_NO_INSTALL: '1' });
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(said);
    expect(existsSync(join(of.folder, of.library))).toBe(false);
  });
}
