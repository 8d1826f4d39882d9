// @ts-check
import { publishedPackages } from './published.mjs';
import { runQuietly } from './run-quietly.mjs';
import { toolEnvironment } from './run.mjs';

/** @typedef {{ name: string, version: string, tarball: string, bytes: number, files: string[] }} Packed */

/**
 * Packs every published package of a checkout, as it would be published. The packages must have been built.
 *
 * @param {string} checkout
 * @param {string} destination a folder that is there
 * @returns {Packed[]} each after those it depends on
 */
export function packAll(checkout, destination) {
  const args = ['--recursive', '--filter', './packages/*', 'pack', '--json', '--pack-destination', destination];
  const output = runQuietly('pnpm', args, { cwd: checkout, env: toolEnvironment() });
  /** @type {{ name: string, version: string, filename: string, size: number, files: { path: string }[] }[]} */
  const packed = JSON.parse(output);
  return publishedPackages(checkout).map(({ manifest: { name } }) => {
    const found = packed.find((candidate) => candidate.name === name);
    if (found === undefined) throw new Error(`pnpm did not pack ${name}`);
    const { version, filename: tarball, size: bytes, files } = found;
    return { name, version, tarball, bytes, files: files.map(({ path }) => path) };
  });
}
