// @ts-check
// `check-release.mjs [--repository owner/name] [--install]`: a release of all packages up to the point where it would be published.
// Works in a copy of the checkout, without network. With --repository, packages must also name it, for provenance. With --install
// they are published to a registry on this machine, and used from there as strangers do.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyCheckout } from './lib/checkout-copy.mjs';
import { consume } from './lib/consume.mjs';
import { startRegistry } from './lib/local-registry.mjs';
import { packAll, publishedPackages, readManifest } from './lib/published.mjs';
import { problemsOfPackage, problemsOfRepository, problemsOfVersions } from './lib/release-rules.mjs';
import { runQuietly } from './lib/run-quietly.mjs';
import { runMain, toolEnvironment } from './lib/run.mjs';

const env = toolEnvironment();

/** @param {string} copy @returns {string[]} changesets that no version has taken up */
const changesetsIn = (copy) =>
  readdirSync(join(copy, '.changeset')).filter((file) => file.endsWith('.md') && file !== 'README.md');

/** @param {import('./lib/published.mjs').Packed} packed @param {string} top */
function unpack({ name, tarball }, top) {
  const folder = join(top, 'unpacked', name);
  mkdirSync(folder, { recursive: true });
  runQuietly('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1'], { cwd: top, env, isSilent: true });
  return folder;
}

/** @param {NodeJS.ProcessEnv} variables @returns {NodeJS.ProcessEnv} what of them is npm's */
const npmOf = (variables) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith('npm_config_')));

await runMain(async () => {
  const { values } = parseArgs({ options: { repository: { type: 'string' }, install: { type: 'boolean' } } });
  const started = performance.now();
  const top = mkdtempSync(join(tmpdir(), 'concord-release-'));
  try {
    const [copy, packedInto] = [join(top, 'checkout'), join(top, 'packed')];
    for (const folder of [copy, packedInto]) mkdirSync(folder);
    copyCheckout(copy);
    console.log(`${changesetsIn(copy).length} changesets to release`);
    runQuietly('changeset', ['version'], { cwd: copy, env });
    runQuietly(process.execPath, [join(copy, 'tools/write-versions.mjs')], { cwd: copy, env, isSilent: true });
    const problems = changesetsIn(copy).map((file) => `.changeset/${file} was not taken up`);
    for (const { folder, manifest } of publishedPackages(copy)) {
      console.log(`building ${manifest.name}`);
      runQuietly('npm', ['run', 'build'], { cwd: folder, env, isSilent: true });
    }

    const all = packAll(copy, packedInto);
    const versions = new Map(all.map(({ name, version }) => [name, version]));
    /** @type {{ fixed: string[][] }} */
    const { fixed } = JSON.parse(readFileSync(join(copy, '.changeset/config.json'), 'utf8'));
    problems.push(...problemsOfVersions(versions, fixed));
    /** @type {Record<string, object>} */
    const rows = {};
    for (const each of all) {
      const folder = unpack(each, top);
      const text = (/** @type {string} */ file) => readFileSync(join(folder, file), 'utf8');
      const manifest = readManifest(folder);
      const own = problemsOfPackage({ manifest, files: each.files, text }, versions);
      if (values.repository !== undefined) own.push(...problemsOfRepository(manifest, values.repository));
      problems.push(...own.map((problem) => `${each.name}: ${problem}`));
      const bytes = each.files.reduce((sum, file) => sum + readFileSync(join(folder, file)).length, 0);
      const [packed, unpacked] = [each.bytes, bytes].map((size) => `${(size / 1000).toFixed(0)} kB`);
      rows[each.name] = { version: each.version, files: each.files.length, packed, unpacked };
    }
    console.table(rows);
    if (values.install && problems.length === 0) {
      const registry = await startRegistry(join(top, 'registry'));
      try {
        const publish = [join(copy, 'tools/publish.mjs'), '--local'];
        runQuietly(process.execPath, publish, { cwd: copy, env: { ...env, ...npmOf(registry.env) } });
        problems.push(...(await consume(join(top, 'consumers'), registry.env)));
      } finally {
        registry.stop();
      }
    }
    for (const problem of problems) console.error(problem);
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(`release: ${problems.length === 0 ? 'ready' : `${problems.length} problems`} (${seconds} s)`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
});
