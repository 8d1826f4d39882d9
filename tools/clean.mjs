// @ts-check
// `clean.mjs <folder>...` removes folders, so that no file of an earlier build remains.
// `clean.mjs --all` removes the build output and caches of the whole checkout; installed packages stay.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';

const workspaces = ['packages', 'examples', 'apps'].flatMap((parent) =>
  readdirSync(join(root, parent)).map((name) => join(root, parent, name)),
);
const output = [
  join(root, '.turbo'),
  join(root, 'api-reference/pages'),
  ...[...workspaces, join(root, 'api-reference'), join(root, 'bench')].flatMap((folder) => [
    join(folder, 'dist'),
    join(folder, '.turbo'),
  ]),
];
const given = process.argv.slice(2);

for (const folder of given.includes('--all') ? output : given) rmSync(folder, { recursive: true, force: true });
