// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Manifest the fields that are read from a package.json
 * @property {string} name
 * @property {string} version
 * @property {boolean} [private]
 * @property {string} [license]
 * @property {{ type?: string, url?: string, directory?: string }} [repository]
 * @property {Record<string, unknown>} [exports]
 * @property {Record<string, unknown>} [imports]
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
