// @ts-check
// The rules for packages that are published, as pure functions of the files that would be published, beside those of publint and
// attw in check-packages.mjs: that the files that package.json names are there, and have types.
import { posix } from 'node:path';

/** @typedef {import('./published.mjs').Manifest} Manifest */
/** @typedef {{ manifest: Manifest, files: readonly string[], text: (file: string) => string }} PackedPackage */

const DEPENDENCIES = /** @type {const} */ ([
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'optionalDependencies',
]);
const NOT_FOR_USERS =
  /\.test\.[^/]+$|(^|\/)(tests?|__tests__|fixtures|node_modules|coverage)\/|\.tsbuildinfo$|\.tgz$|(^|\/)\.[^/]+$/;

/**
 * @param {PackedPackage} packed
 * @param {ReadonlyMap<string, string>} versions of all packages that are published together
 * @returns {string[]} its errors
 */
export function problemsOfPackage(packed, versions) {
  return [
    ...problemsOfManifest(packed.manifest, versions),
    ...problemsOfContents(packed),
    ...problemsOfSourceMaps(packed),
    ...problemsOfVersionInCode(packed),
    ...problemsOfChangelog(packed),
  ];
}

/** @param {Manifest} manifest @param {ReadonlyMap<string, string>} versions @returns {string[]} */
export function problemsOfManifest(manifest, versions) {
  const problems = [];
  if (!/^\d+\.\d+\.\d+$/.test(manifest.version) || manifest.version === '0.0.0') {
    problems.push(`version ${manifest.version} is not one to publish`);
  }
  if (manifest.license === undefined) problems.push('no license in package.json');
  for (const kind of DEPENDENCIES) {
    for (const [name, range] of Object.entries(manifest[kind] ?? {})) {
      const own = versions.get(name);
      if (/^(workspace|link|file|catalog|portal):/.test(range)) {
        problems.push(`${kind}: ${name} is "${range}", which means nothing outside of the repository`);
      } else if (own !== undefined && range !== `^${own}`) {
        problems.push(`${kind}: ${name} is "${range}" instead of "^${own}", with which it is published`);
      }
    }
  }
  return problems;
}

/** @param {PackedPackage} packed @returns {string[]} */
function problemsOfContents({ files }) {
  const missing = ['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json'].filter((file) => !files.includes(file));
  const others = files.filter((file) => NOT_FOR_USERS.test(file));
  return [...missing.map((file) => `no ${file}`), ...others.map((file) => `${file} is not for users`)];
}

/** @param {PackedPackage} packed @returns {string[]} maps of which a debugger or an editor would find only one end */
export function problemsOfSourceMaps({ files, text }) {
  const problems = [];
  const at = (/** @type {string} */ file, /** @type {string} */ link) => posix.join(posix.dirname(file), link);
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name))) {
    const [, map] = /^\/\/# sourceMappingURL=(\S+)\s*$/m.exec(text(file)) ?? [];
    if (map !== undefined && !map.startsWith('data:') && !files.includes(at(file, map))) {
      problems.push(`${file} names the map ${map}, which is not there`);
    }
  }
  for (const file of files.filter((name) => name.endsWith('.map'))) {
    /** @type {{ sources: string[], sourceRoot?: string, sourcesContent?: (string | null)[] }} */
    const { sources, sourceRoot = '', sourcesContent = [] } = JSON.parse(text(file));
    for (const [index, source] of sources.entries()) {
      const isInside = typeof sourcesContent[index] === 'string';
      if (!isInside && !files.includes(at(file, sourceRoot + source))) {
        problems.push(`${file} points to ${source}, which is not there`);
      }
    }
  }
  return problems;
}

/** @param {PackedPackage} packed @returns {string[]} */
function problemsOfVersionInCode({ manifest, files, text }) {
  return ['src/version.ts', 'dist/version.js']
    .filter((file) => files.includes(file) && !text(file).includes(`'${manifest.version}'`))
    .map((file) => `${file} does not say ${manifest.version}`);
}

/** @param {PackedPackage} packed @returns {string[]} */
function problemsOfChangelog({ manifest, files, text }) {
  if (!files.includes('CHANGELOG.md')) return [];
  const hasVersion = text('CHANGELOG.md').split('\n').includes(`## ${manifest.version}`);
  return hasVersion ? [] : [`CHANGELOG.md has no section ${manifest.version}`];
}

/**
 * @param {ReadonlyMap<string, string>} versions
 * @param {readonly (readonly string[])[]} groups packages with always the same version
 * @returns {string[]}
 */
export function problemsOfVersions(versions, groups) {
  return groups.flatMap((group) => {
    const own = group.map((name) => `${name} ${versions.get(name) ?? 'not published'}`);
    return new Set(group.map((name) => versions.get(name))).size === 1 ? [] : [`not one version: ${own.join(', ')}`];
  });
}

/**
 * npm refuses a package with provenance that does not name the repository it was built from.
 *
 * @param {Manifest} manifest
 * @param {string} repository `owner/name` on GitHub
 * @returns {string[]}
 */
export function problemsOfRepository(manifest, repository) {
  const [, named] = /github\.com[/:]([^/]+\/[^/]+?)(?:\.git)?$/.exec(manifest.repository?.url ?? '') ?? [];
  if (named?.toLowerCase() === repository.toLowerCase()) return [];
  return [`"repository" in package.json is ${named ?? 'missing'}, must be ${repository} for provenance`];
}
