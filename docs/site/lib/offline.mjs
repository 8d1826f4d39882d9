// @ts-check
import { fileURLToPath } from 'node:url';
import { injectManifest } from '@serwist/build';
import { build } from 'esbuild';

/**
 * Writes `sw.js`, the service worker that keeps the site for use without a network.
 *
 * @param {string} folder with the built site
 * @returns {Promise<{ count: number, size: number }>} how many files it keeps, and their bytes
 */
export async function writeServiceWorker(folder) {
  const worker = `${folder}/sw.js`;
  await build({
    entryPoints: [fileURLToPath(new URL('../src/service-worker.ts', import.meta.url))],
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
    // Some 700 pages that few visit: kept as they are visited.
    globIgnores: ['sw.js', '404.html', 'api/**'],
    dontCacheBustURLsMatching: /^assets\//,
    maximumFileSizeToCacheInBytes: 8 * 2 ** 20,
  });
  if (warnings.length > 0) throw new Error(warnings.join('\n'));
  return { count, size };
}
