import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, expect, it } from 'vitest';

// The built package in its own application.

const PACKAGE = join(import.meta.dirname, '..');
const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** An application that has the package, and `koffi` as given: none, or a module of that source. */
function application(koffi: string | undefined): string {
  const app = mkdtempSync(join(tmpdir(), 'concord-app-'));
  made.push(app);
  const scope = join(app, 'node_modules/@concord');
  mkdirSync(join(scope, 'backend-levelzero'), { recursive: true });
  for (const part of ['dist', 'package.json']) {
    cpSync(join(PACKAGE, part), join(scope, 'backend-levelzero', part), { recursive: true });
  }
  for (const name of Object.keys(MANIFEST.dependencies)) {
    if (name !== 'koffi')
      symlinkSync(realpathSync(join(PACKAGE, 'node_modules', name)), join(app, 'node_modules', name));
  }
  if (koffi !== undefined) {
    const folder = join(app, 'node_modules/koffi');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
    writeFileSync(join(folder, 'index.js'), koffi);
  }
  const program = `
    import { levelZero, LevelZeroBackend } from '@concord/backend-levelzero';
    const error = await new LevelZeroBackend().init().catch((error) => error);
    console.log(JSON.stringify({ probe: await levelZero().probe(), code: error.code, reason: error.reason }));
  `;
  writeFileSync(join(app, 'app.mjs'), program);
  return app;
}

const run = (file: string): unknown => JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' }));

it('says that koffi is missing, and how to get it', () => {
  expect(run(join(application(undefined), 'app.mjs'))).toEqual({
    probe: {
      available: false,
      reason: 'package-missing',
      message: 'the npm package koffi is not installed',
      hint: 'npm install koffi',
    },
    code: 'BACKEND_UNAVAILABLE',
    reason: 'package-missing',
  });
});

it('says why koffi does not load', () => {
  const source = 'throw new Error("Cannot find the native Koffi module; did you bundle it correctly?\\nmore");';
  expect(run(join(application(source), 'app.mjs'))).toMatchObject({
    probe: {
      reason: 'library-incompatible',
      message: expect.stringMatching(/^koffi does not load on \w+-\w+: Cannot find the native Koffi module/),
    },
  });
});

it('a bundle for browsers has the stub and nothing native', async () => {
  const app = application('throw new Error("not to be loaded");');
  const outfile = join(app, 'bundle.mjs');
  const { metafile } = await build({
    entryPoints: [join(app, 'app.mjs')],
    outfile,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
    logLevel: 'silent',
  });
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  expect(bundled.some((file) => file.endsWith('/browser.js'))).toBe(true);
  expect(bundled.filter((file) => /koffi|spirv|ffi|device/.test(file))).toEqual([]);
  expect(run(outfile)).toEqual({
    probe: {
      available: false,
      reason: 'wrong-platform',
      message: 'Level Zero needs Node',
      hint: 'in a browser use @concord/backend-webgpu',
    },
    code: 'BACKEND_UNAVAILABLE',
    reason: 'wrong-platform',
  });
});
