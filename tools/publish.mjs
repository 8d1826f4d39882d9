// @ts-check
// `publish.mjs`: publishes the packages that the registry does not have yet, with provenance, each after its dependencies.
// For the release workflow: provenance needs its identity. `--dry-run` packs, and prints the commands that it would run; `--local`
// goes without provenance and tags, for a registry on this machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './lib/paths.mjs';
import { packAll } from './lib/published.mjs';
import { run, runMain } from './lib/run.mjs';

/**
 * @param {string} name @param {string} version
 * @returns {boolean} whether the registry has it
 * @throws {Error} when the registry does not say: publishing half of the packages is worse than none
 */
function isPublished(name, version) {
  const shell = process.platform === 'win32';
  const options = { cwd: tmpdir(), encoding: /** @type {const} */ ('utf8'), shell };
  const { status, stdout, stderr } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json'], options);
  if (status === 0) return stdout.trim() !== '';
  if (stdout.includes('E404') || stderr.includes('E404')) return false;
  throw new Error(`npm view ${name}@${version}: ${stderr}`);
}

await runMain(async () => {
  const flag = /** @type {const} */ ({ type: 'boolean', default: false });
  const { values } = parseArgs({ options: { 'dry-run': flag, local: flag } });
  const isDry = values['dry-run'];
  const top = mkdtempSync(join(tmpdir(), 'concord-publish-'));
  try {
    // pnpm packs, as it knows what `workspace:` stands for; npm publishes, as `pnpm -r publish` has lost provenance.
    for (const { name, version, tarball } of packAll(root, top)) {
      const args = ['publish', tarball, ...(values.local ? [] : ['--provenance']), '--access', 'public'];
      if (isDry) {
        console.log(`would run npm ${args.join(' ')}`);
      } else if (version === '0.0.0' || (!values.local && isPublished(name, version))) {
        console.log(`${name}@${version}: nothing to publish`);
      } else {
        const code = await run('npm', args, { cwd: top });
        if (code !== 0) throw new Error(`${name}@${version} was not published (exit code ${code})`);
      }
    }
    return isDry || values.local ? 0 : await run('changeset', ['tag'], { cwd: root });
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
});
