// @ts-check
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { root } from './paths.mjs';

/** The root's dependencies that the tools need while they work in the copy. */
const OF_ROOT = ['@changesets/cli', 'esbuild'];

/**
 * Copies the files that git tracks or would track, so that no file that is only on this machine is in it, and links installed
 * packages. Packages of the copy see each other, never those of the checkout. Do not run `pnpm install` or `pnpm run` in
 * it: pnpm would write through the links into the checkout.
 *
 * @param {string} destination
 */
export function copyCheckout(destination) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout, stderr } = spawnSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`git ls-files: ${stderr}`);
  // Of a file that is deleted and not yet committed, git still knows.
  for (const file of stdout.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))) {
    mkdirSync(dirname(join(destination, file)), { recursive: true });
    cpSync(join(root, file), join(destination, file));
  }
  for (const name of readdirSync(join(destination, 'packages'))) {
    const modules = join('packages', name, 'node_modules');
    for (const dependency of installedIn(join(root, modules))) link(join(modules, dependency), destination);
  }
  for (const name of OF_ROOT) link(join('node_modules', name), destination);
}

/** @param {string} modules a node_modules @returns {string[]} the names in it */
function installedIn(modules) {
  if (!existsSync(modules)) return [];
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : name));
}

/** @param {string} path of what is installed, from the top of the checkout @param {string} destination */
function link(path, destination) {
  const real = realpathSync(join(root, path));
  const own = relative(root, real);
  const target = own.startsWith(`packages${sep}`) ? join(destination, own) : real;
  mkdirSync(dirname(join(destination, path)), { recursive: true });
  symlinkSync(target, join(destination, path), 'junction');
}
