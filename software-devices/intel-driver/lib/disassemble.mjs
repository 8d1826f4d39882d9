// @ts-check
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folder, librariesIn } from './cache.mjs';
import { products } from './products.mjs';

/**
 * The code of a kernel as text, one instruction on each line, each after its place in bytes.
 *
 * @param {Uint8Array} code
 * @param {import('./products.mjs').Product} product
 * @returns {Promise<string>}
 */
export async function disassemble(code, product) {
  const work = mkdtempSync(join(tmpdir(), 'concord-intel-'));
  try {
    const file = join(work, 'code');
    writeFileSync(file, code);
    const args = [file, '-d', '-n', `-p=${products[product].iga}`, '-Xprint-pc'];
    const env = { ...process.env, LD_LIBRARY_PATH: librariesIn(folder) };
    const { stdout } = await promisify(execFile)(join(folder, 'usr/bin/iga64'), args, { env, maxBuffer: 2 ** 28 });
    return stdout;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
