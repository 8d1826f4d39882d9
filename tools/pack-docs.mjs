// @ts-check
// `prepack` of @concord/backend-core: its tarball carries the contract and the guide for authors, with the pages that they
// refer to, as they are at that version. `pack-docs.mjs --remove`, its `postpack`, takes them away again.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/paths.mjs';

const PAGES = ['contract.md', 'writing-a-backend.md', 'errors.md', 'numerics.md'];
const folder = join(root, 'packages/backend-core/docs');

rmSync(folder, { recursive: true, force: true });
if (!process.argv.includes('--remove')) {
  mkdirSync(folder);
  for (const page of PAGES) {
    const text = readFileSync(join(root, 'docs', page), 'utf8');
    // A link to a file that is not in the tarball becomes its text.
    const links = /\[([^\]]+)\]\(([^)#:]*)(#[^)]*)?\)/g;
    const packed = text.replaceAll(links, (link, label, target) =>
      target === '' || PAGES.includes(target) ? link : label,
    );
    writeFileSync(join(folder, page), packed);
  }
}
