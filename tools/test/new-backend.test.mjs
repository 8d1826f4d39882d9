// @ts-check
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wordsFor } from '../lib/generate-backend.mjs';
import { root } from '../lib/paths.mjs';
import { toolEnvironment } from '../lib/run.mjs';
import { findViolations } from '../lib/structure-rules.mjs';

const FOLDER = 'packages/backend-my-device';
/** @type {string} */
let checkout;

/** @param {string} command @param {readonly string[]} args @param {string} cwd */
function runIn(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: toolEnvironment(), encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const generate = (/** @type {string[]} */ ...args) =>
  runIn(process.execPath, [join(root, 'tools/new-backend.mjs'), ...args, '--checkout', checkout], root);

const ownViolations = () => findViolations(checkout).filter(({ file }) => file.startsWith(FOLDER));

describe('a generated backend', () => {
  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), 'concord-new-backend-'));
    for (const file of ['tsconfig.json', 'tsconfig.tests.json', 'tsconfig.base.json', '.oxfmtrc.json']) {
      cpSync(join(root, file), join(checkout, file));
    }
    expect(generate('my-device')).toMatchObject({ status: 0 });
    // The links that an installation would make.
    const scope = join(checkout, FOLDER, 'node_modules/@concord');
    mkdirSync(scope, { recursive: true });
    for (const name of ['backend-core', 'kernel', 'conformance']) {
      symlinkSync(join(root, 'packages', name), join(scope, name), 'junction');
      if (name !== 'conformance')
        symlinkSync(join(root, 'packages', name), join(checkout, 'packages', name), 'junction');
    }
  });
  afterAll(() => rmSync(checkout, { recursive: true, force: true }));

  test('has every file in its room', () => {
    expect(ownViolations()).toEqual([]);
    const file = join(checkout, FOLDER, 'src/provider.ts');
    const text = readFileSync(file);
    rmSync(file);
    expect(ownViolations()).toHaveLength(1);
    writeFileSync(file, text);
  });

  test('is formatted, registered for the type check, and has a changeset', () => {
    expect(runIn('oxfmt', ['--check', '.'], checkout)).toMatchObject({ status: 0 });
    for (const project of ['tsconfig.json', 'tsconfig.tests.json']) {
      expect(readFileSync(join(checkout, project), 'utf8')).toContain(`{ "path": "${FOLDER}" },`);
    }
    expect(readFileSync(join(checkout, '.changeset/new-backend-my-device.md'), 'utf8')).toContain('my-device');
  });

  test('compiles, passes conformance where it has something, and says why it lacks the rest', () => {
    expect(runIn('tsc', ['-p', FOLDER], checkout)).toEqual({ status: 0, output: '' });
    const report = join(checkout, 'report.json');
    const concord = [join(root, 'packages/cli/bin/concord.js'), 'conformance', '--sample', '0.2', '--json', report];
    const ran = runIn(process.execPath, [...concord, '--module', `./${FOLDER}/dist/index.js`], checkout);
    expect(ran).toMatchObject({
      status: 0,
      output: expect.stringMatching(/^Everything passed, \d+ unsupported: my-device/m),
    });
    /** @type {{ cases: { op: string, status: string, detail?: string }[] }} */
    const { cases } = JSON.parse(readFileSync(report, 'utf8'));
    const unsupported = cases.filter(({ status }) => status === 'unsupported');
    expect(new Set(unsupported.map(({ op }) => op)).size).toBeGreaterThanOrEqual(8);
    for (const { detail } of unsupported) expect(detail).toMatch(/^my-device does not implement \w+$/);
  });

  test('is not written over', () => {
    expect(generate('my-device')).toMatchObject({ status: 1, output: `${FOLDER} exists already\n` });
  });
});

test.each([
  ['my-device', 'MyDevice', 'myDevice'],
  ['cuda', 'Cuda', 'cuda'],
  ['cuda-12', 'Cuda12', 'cuda12'],
])('%s makes %sBackend and %s()', (name, Class, provider) => {
  expect(wordsFor(name)).toEqual({ name, Class, provider });
});

test.each(['', 'My-Device', '../x', 'backend-cuda', '3dfx', 'a--b', 'new'])('"%s" is no name', (name) => {
  expect(() => wordsFor(name)).toThrow(`"${name}"`);
});
