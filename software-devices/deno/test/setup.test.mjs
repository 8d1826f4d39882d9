// @ts-check
// Set-up of a program of npm, in its own cache: nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../setup.mjs', import.meta.url));

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concord-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @param {Record<string, string>} [more] */
function setUp(more) {
  const path = `${join(folder, 'bin')}${delimiter}${process.env['PATH']}`;
  const env = {
    ...process.env,
    PATH: path,
    CONCORD_PROGRAMS_CACHE: join(folder, 'cache'),
    CONCORD_NO_INSTALL: '',
    ...more,
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', env });
  return { status, stdout: stdout.trim().split('\n'), stderr: stderr.trim() };
}

/** An npm that makes a package whose program says this. @param {string} version */
function fakeNpm(version) {
  mkdirSync(join(folder, 'bin'));
  const npm = join(folder, 'bin/npm');
  const lines = [
    '#!/bin/sh',
    'package="node_modules/${2%@*}"',
    'mkdir -p "$package"',
    `printf '#!/bin/sh\\necho deno ${version}\\n' > "$package/deno"`,
    'chmod +x "$package/deno"',
    `echo "$@" >> ${join(folder, 'calls')}`,
  ];
  writeFileSync(npm, lines.join('\n'));
  chmodSync(npm, 0o755);
}

it.skipIf(process.platform === 'win32')('fetches once, and again when it is damaged', () => {
  fakeNpm('2.9.6');
  const first = setUp();
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(first.stdout).toHaveLength(2);
  expect(first.stdout[0]).toMatch(/^deno: fetching @deno\/\S+ 2\.9\.6 from npm \(.* MB.*\) into \.cache$/);
  const path = first.stdout[1] ?? '';
  expect(setUp()).toEqual({ status: 0, stdout: [path], stderr: '' });
  truncateSync(path, 3);
  expect(setUp()).toEqual(first);
  expect(readdirSync(join(folder, 'cache'))).toEqual(['deno-2.9.6']);
});

it('says what to do where it may not install', () => {
  const { status, stderr } = setUp({ CONCORD_NO_INSTALL: '1' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^deno: not available: .* run: node software-devices\/deno\/setup\.mjs$/);
});

it.skipIf(process.platform === 'win32')('takes no other version', () => {
  fakeNpm('1.0.0');
  expect(setUp()).toMatchObject({ status: 1, stderr: expect.stringMatching(/deno does not run/) });
  expect(readdirSync(join(folder, 'cache'))).toEqual([]);
});
