import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { type Application, applicationOf } from '../../backend-core/test/built-package.ts';

// The built package in its own application.

const PROGRAM = `
  import { levelZero, LevelZeroBackend } from '@concord/backend-levelzero';
  const error = await new LevelZeroBackend().init().catch((error) => error);
  console.log(JSON.stringify({ probe: await levelZero().probe(), code: error.code, reason: error.reason }));
`;

/** An application that has the package, and `koffi` as given: none, or a module of that source. */
const application = (koffi: string | undefined): Application =>
  applicationOf(join(import.meta.dirname, '..'), ['koffi', koffi], PROGRAM);

const outputOf = (file: string): unknown => JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' }));

function run(koffi: string | undefined): unknown {
  using app = application(koffi);
  return outputOf(app.program);
}

it('says that koffi is missing, and how to get it', () => {
  expect(run(undefined)).toEqual({
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
  expect(run(source)).toMatchObject({
    probe: {
      reason: 'library-incompatible',
      message: expect.stringMatching(/^koffi does not load on \w+-\w+: Cannot find the native Koffi module/),
    },
  });
});

it('a bundle for browsers has the stub and nothing native', async () => {
  using app = application('throw new Error("not to be loaded");');
  const outfile = join(app.folder, 'bundle.mjs');
  const { metafile } = await build({
    entryPoints: [app.program],
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
  expect(outputOf(outfile)).toEqual({
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
