// @ts-check
// `build.mjs [--out FOLDER]`: writes the site to docs/site/dist, or FOLDER, and checks its links.
import { cpSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { injectManifest } from '@serwist/build';
import { build as bundle } from 'esbuild';
import { build } from 'vitepress';
import { findBrokenLinks } from './lib/broken-links.mjs';
import { MODELS } from './lib/pages.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const site = fileURLToPath(new URL('.', import.meta.url));
const out = resolve(values.out ?? `${site}dist`);
// VitePress makes a link to Vue where it runs, unless Vue is there.
process.chdir(site);
await build('.', { outDir: out });
for (const [address, folders] of Object.entries(MODELS)) {
  for (const folder of folders) cpSync(join(site, folder), `${out}/${address}`, { recursive: true });
}
const kept = await writeServiceWorker(out);
const { pages, links, broken: problems } = findBrokenLinks(out);
// The navigation is on every page: one line for each target.
const targets = new Map(problems.map((problem) => [posix.join(dirname(problem.page), problem.link), problem]));
for (const { page, link } of targets.values()) console.error(`${page}: ${link} leads nowhere`);
console.log(
  `site: ${pages} pages, ${links} links, ${kept.count} files (${(kept.size / 2 ** 20).toFixed(1)} MiB) kept offline`,
);
console.log(problems.length > 0 ? `${problems.length} links lead nowhere` : `${out}/index.html`);
process.exitCode = problems.length > 0 ? 1 : 0;

/**
 * Writes `sw.js`, the service worker that keeps the site for use without a network.
 *
 * @param {string} folder with the built site
 * @returns {Promise<{ count: number, size: number }>} how many files it keeps, and their bytes
 */
async function writeServiceWorker(folder) {
  const worker = `${folder}/sw.js`;
  await bundle({
    entryPoints: [`${site}src/service-worker.ts`],
    outfile: worker,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
  });
  const { count, size, warnings } = await injectManifest({
    swSrc: worker,
    swDest: worker,
    globDirectory: folder,
    globPatterns: ['**/*'],
    // Models are kept by their own pages.
    globIgnores: ['sw.js', '404.html', ...Object.keys(MODELS).map((address) => `${address}/**`)],
    dontCacheBustURLsMatching: /^assets\//,
    maximumFileSizeToCacheInBytes: 8 * 2 ** 20,
  });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  return { count, size };
}
