// @ts-check
import { describe, expect, it, test } from 'vitest';
import { problemsOfPackage, problemsOfRepository, problemsOfVersions } from '../lib/release-rules.mjs';

/** @typedef {import('../lib/published.mjs').Manifest} Manifest */

const map = (/** @type {string} */ source) => JSON.stringify({ version: 3, sources: [source], mappings: '' });

/** A package with nothing wrong. @returns {{ manifest: Manifest, contents: Record<string, string> }} */
function sound() {
  return {
    manifest: {
      name: '@x/b',
      version: '0.2.0',
      license: 'MIT',
      dependencies: { '@x/a': '^0.3.0', other: '1.2.3' },
    },
    contents: {
      LICENSE: '',
      'README.md': '',
      'package.json': '',
      'CHANGELOG.md': '# @x/b\n\n## 0.2.0\n\n- More.\n',
      'dist/index.js': 'export {};\n//# sourceMappingURL=index.js.map\n',
      'dist/index.js.map': map('../src/index.ts'),
      'dist/index.d.ts': 'export {};\n//# sourceMappingURL=index.d.ts.map\n',
      'dist/index.d.ts.map': map('../src/index.ts'),
      'src/index.ts': '',
    },
  };
}

const versions = new Map([
  ['@x/a', '0.3.0'],
  ['@x/b', '0.2.0'],
]);

/** @param {(sound: { manifest: Manifest, contents: Record<string, string> }) => void} [spoil] */
function problems(spoil = () => {}) {
  const { manifest, contents } = sound();
  spoil({ manifest, contents });
  return problemsOfPackage({ manifest, files: Object.keys(contents), text: (file) => contents[file] ?? '' }, versions);
}

describe('a package that is published', () => {
  it('may be in order', () => {
    expect(problems()).toEqual([]);
  });

  it.each(['workspace:^', 'link:../a', 'catalog:'])('has no range %s', (range) => {
    const found = problems(({ manifest }) => (manifest.dependencies = { '@x/a': range }));
    expect(found).toEqual([`dependencies: @x/a is "${range}", which means nothing outside of the repository`]);
  });

  it('asks for the version of ours that it is published with', () => {
    expect(problems(({ manifest }) => (manifest.peerDependencies = { '@x/a': '^0.2.9' }))).toEqual([
      'peerDependencies: @x/a is "^0.2.9" instead of "^0.3.0", with which it is published',
    ]);
  });

  it('has a version, and a section for it in the changelog', () => {
    expect(problems(({ manifest }) => (manifest.version = '0.0.0'))).toEqual([
      'version 0.0.0 is not one to publish',
      'CHANGELOG.md has no section 0.0.0',
    ]);
    expect(problems(({ contents }) => (contents['CHANGELOG.md'] = '## 0.2.00\n'))).toEqual([
      'CHANGELOG.md has no section 0.2.0',
    ]);
  });

  it('says the same version in its code', () => {
    const at = (/** @type {string} */ version) =>
      problems(({ contents }) => (contents['dist/version.js'] = `export const VERSION = '${version}';\n`));
    expect(at('0.2.0')).toEqual([]);
    expect(at('0.1.0')).toEqual(['dist/version.js does not say 0.2.0']);
  });

  it.each(['LICENSE', 'README.md', 'CHANGELOG.md'])('has a %s', (file) => {
    expect(problems(({ contents }) => delete contents[file])).toEqual([`no ${file}`]);
  });

  it('names its licence', () => {
    expect(problems(({ manifest }) => delete manifest.license)).toEqual(['no license in package.json']);
  });

  it.each(['src/index.test.ts', 'dist/a.test.d.ts.map', 'test/support/a.ts', 'dist/.tsbuildinfo', '.npmrc'])(
    'is without %s',
    (file) => {
      expect(problems(({ contents }) => (contents[file] = map('../src/index.ts')))).toContain(
        `${file} is not for users`,
      );
    },
  );

  it('has both ends of every source map', () => {
    expect(problems(({ contents }) => delete contents['dist/index.js.map'])).toEqual([
      'dist/index.js names the map index.js.map, which is not there',
    ]);
    expect(problems(({ contents }) => delete contents['src/index.ts'])).toEqual([
      'dist/index.js.map points to ../src/index.ts, which is not there',
      'dist/index.d.ts.map points to ../src/index.ts, which is not there',
    ]);
  });
});

test('packages of a group have one version', () => {
  expect(problemsOfVersions(versions, [['@x/a']])).toEqual([]);
  expect(problemsOfVersions(versions, [['@x/a', '@x/b']])).toEqual(['not one version: @x/a 0.3.0, @x/b 0.2.0']);
});

test('provenance needs the repository', () => {
  const manifest = { name: '@x/a', version: '0.1.0' };
  const at = (/** @type {string} */ url) => problemsOfRepository({ ...manifest, repository: { url } }, 'Some/one');
  expect(problemsOfRepository(manifest, 'some/one')).toEqual([
    '"repository" in package.json is missing, must be some/one for provenance',
  ]);
  expect(at('git+https://github.com/some/one.git')).toEqual([]);
  expect(at('https://github.com/some/one')).toEqual([]);
  expect(at('https://github.com/some/one-more')).toHaveLength(1);
});
