// @ts-check
// `setup.mjs` fetches Bun into this checkout's cache, unless it is there, and prints its path.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runSetUp, setUpProgram } from '../deno/lib/npm-program.mjs';

/** @type {import('../deno/lib/npm-program.mjs').NpmProgram} */
export const bun = {
  name: 'bun',
  version: '1.4.5',
  packages: {
    'darwin-arm64': '@oven/bun-darwin-aarch64',
    'darwin-x64': '@oven/bun-darwin-x64',
    'linux-arm64': '@oven/bun-linux-aarch64',
    'linux-x64': '@oven/bun-linux-x64',
    'win32-arm64': '@oven/bun-windows-aarch64',
    'win32-x64': '@oven/bun-windows-x64',
  },
  file: 'bin/bun',
  size: 'some 40 MB, 103 unpacked',
};

/** Bun, fetched if it is not here. */
export const setUpBun = () => setUpProgram(bun);

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) runSetUp(bun);
