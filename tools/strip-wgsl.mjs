// @ts-check
// `strip-wgsl.mjs folder`: makes the shaders in the built files of a folder smaller, for bundles.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripTemplates } from './lib/strip-templates.mjs';

const [folder = 'dist/kernels'] = process.argv.slice(2);
for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('.js')) continue;
  const file = join(folder, name);
  writeFileSync(file, stripTemplates(readFileSync(file, 'utf8')));
}
