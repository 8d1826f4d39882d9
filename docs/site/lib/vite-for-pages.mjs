// @ts-check
import { join } from 'node:path';

/** @typedef {NonNullable<import('vitepress').UserConfig['vite']>} ViteConfig */

/**
 * What Vite needs to know of pages that are outside the folder of the site.
 *
 * @param {string} site the folder of the site
 * @param {ViteConfig} more
 * @returns {ViteConfig}
 */
export function viteForPages(site, more) {
  return {
    ...more,
    publicDir: join(site, 'public'),
    server: {
      // As the service worker of the built site does.
      headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
      watch: { ignored: ['**/.cache/**', '**/dist/**', '**/.turbo/**'] },
    },
    plugins: [
      ...(more.plugins ?? []),
      {
        name: 'vue-for-pages',
        enforce: 'pre',
        // They do not see what is installed in that folder.
        resolveId(id, importer, options) {
          const isForPage = /^vue(\/|$)/.test(id) && importer?.endsWith('.md') === true;
          return isForPage ? this.resolve(id, join(site, 'index.md'), { ...options, skipSelf: true }) : undefined;
        },
      },
    ],
  };
}
