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
import type { ProbeResult } from '@concord/backend-core';
import { afterEach, expect, it } from 'vitest';

// The built package in its own application, beside a `webgpu` package that is missing or broken in some way.

const PACKAGE = join(import.meta.dirname, '..');
const MANIFEST = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
};
const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true });
});

/** The result of `webgpu().probe()` where the package `webgpu` is `source`. */
function probeBeside(source: string | undefined, prelude = ''): ProbeResult {
  const app = mkdtempSync(join(tmpdir(), 'concord-app-'));
  made.push(app);
  const scope = join(app, 'node_modules/@concord');
  mkdirSync(join(scope, 'backend-webgpu'), { recursive: true });
  for (const part of ['dist', 'package.json']) {
    cpSync(join(PACKAGE, part), join(scope, 'backend-webgpu', part), { recursive: true });
  }
  for (const name of Object.keys(MANIFEST.dependencies)) {
    symlinkSync(realpathSync(join(PACKAGE, 'node_modules', name)), join(app, 'node_modules', name));
  }
  if (source !== undefined) {
    const folder = join(app, 'node_modules/webgpu');
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{"type":"module","main":"index.js"}');
    writeFileSync(join(folder, 'index.js'), source);
  }
  const program = `
    ${prelude}
    const { webgpu } = await import('@concord/backend-webgpu');
    console.log(JSON.stringify(await webgpu().probe()));
  `;
  writeFileSync(join(app, 'app.mjs'), program);
  return JSON.parse(execFileSync(process.execPath, [join(app, 'app.mjs')], { encoding: 'utf8' })) as ProbeResult;
}

it('says that the package is missing, and how to get it', () => {
  expect(probeBeside(undefined)).toEqual({
    available: false,
    reason: 'package-missing',
    message: 'the npm package webgpu (Dawn for Node) is not installed',
    hint: 'npm install webgpu',
  });
});

it('says that the package has no Dawn for this platform', () => {
  const source =
    "import { createRequire } from 'node:module'; createRequire(import.meta.url)('./plan9-x64/dawn.node');";
  expect(probeBeside(source)).toMatchObject({
    reason: 'wrong-platform',
    message: expect.stringMatching(/^the npm package webgpu has no Dawn for \w+-\w+$/),
  });
});

it('says why the library does not load', () => {
  const source = 'throw new Error("/lib/libc.so.6: version `GLIBC_2.34\' not found (required by dawn.node)\\nmore");';
  expect(probeBeside(source)).toMatchObject({
    reason: 'library-incompatible',
    message: "Dawn does not load: /lib/libc.so.6: version `GLIBC_2.34' not found (required by dawn.node)",
  });
});

it.each([
  ['gives none', 'null'],
  ['rejects', "Promise.reject(new Error('no suitable backends found'))"],
])('says that there is no adapter where Dawn %s', (_, answer) => {
  const result = probeBeside(`export const create = () => ({ requestAdapter: async () => ${answer} });`);
  expect(result).toMatchObject({ available: false, reason: expect.stringMatching(/^(no-device|library-missing)$/) });
  expect(result).toHaveProperty('hint');
});

it('uses the WebGPU of a runtime that has its own', () => {
  const info = { vendor: 'acme', architecture: 'a1', device: '', description: 'Acme One', isFallbackAdapter: false };
  const prelude = `
    const gpu = { requestAdapter: async () => ({ info: ${JSON.stringify(info)} }) };
    Object.defineProperty(globalThis, 'navigator', { value: { gpu }, configurable: true });
  `;
  expect(probeBeside('throw new Error("not to be loaded")', prelude)).toMatchObject({
    available: true,
    devices: [{ vendor: 'acme', name: 'Acme One', type: 'unknown' }],
  });
});
