// What is kept of builds, on the driver for the CPU: that gives the SPIR-V itself as the native binary.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LevelZeroClient } from '../src/device/level-zero-client.ts';
import { keepBuilds } from './support/intel-builds.mjs';
import { affine, filled } from './support/kernels.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'concord-intel-builds-'))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Builds kernels in a new client. The file of each. */
async function build(kernels: readonly Parameters<LevelZeroClient['compile']>[0][], compiler = 'a'): Promise<string[]> {
  const client = await LevelZeroClient.open();
  const { zeModuleCreate } = client.library.api;
  const lastBinary = keepBuilds(client, folder, compiler);
  const files: string[] = [];
  for (const kernel of kernels) {
    await client.compile(kernel);
    files.push(lastBinary());
  }
  Object.defineProperty(client.library.api, 'zeModuleCreate', { value: zeModuleCreate });
  await client.dispose();
  return files;
}

it('keeps a binary for each module, value of a constant, and compiler', async () => {
  const files = await build([affine, filled(1), filled(2)]);
  expect(new Set(files).size).toBe(3);
  expect(await build([affine, filled(1), filled(2)])).toEqual(files);
  expect(await build([affine], 'b')).not.toContain(files[0]);
  expect(readdirSync(folder)).toHaveLength(4);
  const { buffer, byteOffset, byteLength } = affine.words();
  expect(readFileSync(files[0] ?? '')).toEqual(Buffer.from(buffer, byteOffset, byteLength));
});
