// @ts-check
// Builds the site once for all its tests, into a folder below the one that is served: it has to work from any folder.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SITE = fileURLToPath(new URL('../..', import.meta.url));
const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));

/** @param {import('vitest/node').TestProject} project */
export default async function setup(project) {
  const served = mkdtempSync(join(tmpdir(), 'concord-site-'));
  const out = join(served, 'some/folder');
  const run = promisify(execFile);
  // From the top: in a workspace turbo runs the tasks of that one alone.
  await run('turbo', ['run', 'api'], { cwd: ROOT });
  // Fails on a link that leads nowhere.
  await run(process.execPath, ['build.mjs', '--out', out], { cwd: SITE });
  project.provide('servedFolder', served);
  return () => rmSync(served, { recursive: true });
}
