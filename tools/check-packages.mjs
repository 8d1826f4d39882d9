// @ts-check
// Checks each public package as its users get it: publint on its manifest, attw on the types of the packed tarball.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';
import { run, runMain } from './lib/run.mjs';

await runMain(async () => {
  /** @type {string[]} */
  const failures = [];
  for (const name of readdirSync(join(root, 'packages')).sort()) {
    const folder = join(root, 'packages', name);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (manifest.private) continue;
    console.log(`\n--- ${manifest.name}`);
    if ((await run('publint', ['--strict'], { cwd: folder })) !== 0) failures.push(`${manifest.name}: publint`);
    if ((await run('attw', ['--pack', '.', '--profile', 'esm-only'], { cwd: folder })) !== 0)
      failures.push(`${manifest.name}: attw`);
  }
  console.log(failures.length === 0 ? '\npackages: all clean' : `\npackages: ${failures.join(', ')}`);
  return failures.length === 0 ? 0 : 1;
});
