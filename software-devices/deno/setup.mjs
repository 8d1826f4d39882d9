// @ts-check
// `setup.mjs` fetches Deno into this checkout's cache, unless it is there, and prints its path.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runSetUp, setUpProgram } from './lib/npm-program.mjs';

/** @type {import('./lib/npm-program.mjs').NpmProgram} */
export const deno = {
  name: 'deno',
  version: '2.9.6',
  packages: {
    'darwin-arm64': '@deno/darwin-arm64',
    'darwin-x64': '@deno/darwin-x64',
    'linux-arm64': '@deno/linux-arm64-glibc',
    'linux-x64': '@deno/linux-x64-glibc',
    'win32-arm64': '@deno/win32-arm64',
    'win32-x64': '@deno/win32-x64',
  },
  file: 'deno',
  size: '42 MB',
};

/** Deno, fetched if it is not here. */
export const setUpDeno = () => setUpProgram(deno);

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) runSetUp(deno);
