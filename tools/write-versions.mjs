// @ts-check
// Writes the version of each package into its src/version.ts, where there is one: `changeset version` only knows package.json.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './lib/paths.mjs';
import { publishedPackages } from './lib/published.mjs';

for (const { folder, manifest } of publishedPackages(root)) {
  const file = join(folder, 'src/version.ts');
  if (!existsSync(file)) continue;
  const text = readFileSync(file, 'utf8');
  const line = /^export const VERSION = '[^']*';$/m;
  if (!line.test(text)) throw new Error(`${relative(root, file)} has no line "export const VERSION = '...';"`);
  writeFileSync(file, text.replace(line, `export const VERSION = '${manifest.version}';`));
  console.log(`${relative(root, file)}: ${manifest.version}`);
}
