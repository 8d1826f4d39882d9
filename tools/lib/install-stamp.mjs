// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const stampFile = (/** @type {string} */ root) => join(root, 'node_modules', '.concord-install');

/**
 * Every file that determines the installed packages. Found with Node alone, since nothing may be installed yet.
 *
 * @param {string} root
 */
function manifests(root) {
  const parents = ['packages', 'examples', 'apps', 'software-devices'].filter((parent) =>
    existsSync(join(root, parent)),
  );
  const folders = parents.flatMap((parent) =>
    readdirSync(join(root, parent), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(parent, entry.name)),
  );
  return ['', 'bench', 'tools', ...folders]
    .map((folder) => join(folder, 'package.json'))
    .concat('pnpm-lock.yaml', 'pnpm-workspace.yaml')
    .filter((file) => existsSync(join(root, file)))
    .sort();
}

/** @param {string} root */
function wantedStamp(root) {
  const hash = createHash('sha256').update(`node ${process.versions.node.split('.')[0]} ${process.platform}\n`);
  for (const file of manifests(root)) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Returns whether the packages installed below `root` are those of its manifests. @param {string} root */
export function isInstalled(root) {
  return existsSync(stampFile(root)) && readFileSync(stampFile(root), 'utf8') === wantedStamp(root);
}

/** Records that the packages installed below `root` are those of its manifests. @param {string} root */
export function markInstalled(root) {
  writeFileSync(stampFile(root), wantedStamp(root));
}
