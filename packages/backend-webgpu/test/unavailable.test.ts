import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { ProbeResult } from '@concord/backend-core';
import { expect, it } from 'vitest';
import { applicationOf } from '../../backend-core/test/built-package.ts';

// The built package in its own application, beside a `webgpu` package that is missing or broken in some way.

/** The result of `webgpu().probe()` where the package `webgpu` is `source`. */
function probeBeside(source: string | undefined, prelude = ''): ProbeResult {
  const program = `
    ${prelude}
    const { webgpu } = await import('@concord/backend-webgpu');
    console.log(JSON.stringify(await webgpu().probe()));
  `;
  using app = applicationOf(join(import.meta.dirname, '..'), ['webgpu', source], program);
  return JSON.parse(execFileSync(process.execPath, [app.program], { encoding: 'utf8' })) as ProbeResult;
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
