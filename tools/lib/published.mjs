// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './run-quietly.mjs';
import { toolEnvironment } from './run.mjs';

/**
 * @typedef {object} Manifest the fields that are read from a package.json
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {string} [license]
 * @property {{ type?: string, url?: string, directory?: string }} [repository]
 * @property {Record<string, unknown>} [exports]
 * @property {Record<string, string>} [bin]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [optionalDependencies]
 */

/**
 * The packages of a checkout that are published, each after those it depends on.
 *
 * @param {string} checkout
 * @returns {{ folder: string, manifest: Manifest }[]}
 */
export function publishedPackages(checkout) {
  const rest = readdirSync(join(checkout, 'packages'))
    .sort()
    .map((name) => join(checkout, 'packages', name))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readManifest(folder) }))
    .filter(({ manifest }) => !manifest.private);
  const names = rest.map(({ manifest }) => manifest.name);
  /** @type {{ folder: string, manifest: Manifest }[]} */
  const ordered = [];
  while (rest.length > 0) {
    const next = rest.findIndex(({ manifest }) =>
      Object.keys(manifest.dependencies ?? {}).every(
        (name) => !names.includes(name) || ordered.some((done) => done.manifest.name === name),
      ),
    );
    if (next < 0) throw new Error(`a cycle among ${rest.map(({ manifest }) => manifest.name).join(', ')}`);
    ordered.push(...rest.splice(next, 1));
  }
  return ordered;
}

/** @param {string} folder @returns {Manifest} */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

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
