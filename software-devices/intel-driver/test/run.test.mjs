// @ts-check
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unobtainable } from '../lib/make.mjs';
import { setUp } from '../setup.mjs';

const script = fileURLToPath(new URL('../run.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'concord-intel-run-'));

/** @param {string[]} args */
function run(...args) {
  const env = { ...process.env, TMPDIR: folder };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env });
  return { status, stdout, stderr };
}

beforeAll(() => void setUp());
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [['--help'], 0, 'stdout'],
  [[], 2, 'stderr'],
  [['dg3', 'true'], 2, 'stderr'],
  [['dg2'], 2, 'stderr'],
])('%j ends with %d and the usage on %s', (args, status, stream) => {
  expect(run(...args)).toMatchObject({
    status,
    [stream]: expect.stringMatching(/^usage: .*<skl\|tgl\|dg2\|pvc\|pvc2>/),
  });
});

describe.skipIf(unobtainable() !== undefined)('a command', () => {
  test('gets its arguments and a folder for captures, which is gone with it', () => {
    const code = `const { AUBDumpCaptureFileName: name } = process.env;
      require('fs').writeFileSync(name, 'captured');
      console.log(process.argv.slice(1).join(), name);
      process.exit(7);`;
    const { status, stdout, stderr } = run('skl', process.execPath, '-e', code, '--', 'a b', '--help');
    expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
    expect(stdout).toMatch(/^a b,--help .*concord-intel-run-\w+\/concord-intel-\w+\/skl\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('that is not there is named', () => {
    const { status, stderr } = run('dg2', 'no-such-command');
    expect({ status, stderr }).toEqual({ status: 127, stderr: expect.stringContaining('cannot run no-such-command') });
    expect(readdirSync(folder)).toEqual([]);
  });
});
