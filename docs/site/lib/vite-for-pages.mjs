// @ts-check
import { join } from 'node:path';
import { build } from 'esbuild';
import sirv from 'sirv';
import { MODELS } from './pages.mjs';

/** @typedef {NonNullable<import('vitepress').UserConfig['vite']>} ViteConfig */

/**
 * The configuration of Vite for pages that are outside the folder of the site.
 *
 * @param {string} site the folder of the site
 * @param {ViteConfig} more
 * @returns {ViteConfig}
 */
export function viteForPages(site, more) {
  return {
    ...more,
    publicDir: join(site, 'public'),
    // So that a worker loads what it picks.
    worker: { format: 'es' },
    server: { watch: { ignored: ['**/.cache/**', '**/dist/**', '**/.turbo/**'] } },
    // The index of the search, and the playground's editor: loaded when they are opened.
    build: { chunkSizeWarningLimit: 2000 },
    // Not the pages of examples and tests.
    optimizeDeps: { entries: ['docs/site/.vitepress/theme/*.mjs'] },
    plugins: [
      ...(more.plugins ?? []),
      bundledText(),
      {
        name: 'pages-elsewhere',
        enforce: 'pre',
        // VitePress lets Vite look for its own packages from the top folder, where they are not.
        configResolved({ optimizeDeps }) {
          optimizeDeps.include = optimizeDeps.include?.filter((name) => !name.startsWith('vitepress > ')) ?? [];
        },
        // As the service worker of the built site does.
        configureServer({ middlewares }) {
          // As build.mjs copies it.
          for (const [address, folders] of Object.entries(MODELS)) {
            for (const folder of folders) middlewares.use(`/${address}`, sirv(join(site, folder), { dev: true }));
          }
          middlewares.use((_request, response, next) => {
            response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
            response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
            next();
          });
        },
        // Pages cannot import packages that are installed in the folder of the site.
        resolveId(id, importer, options) {
          const isForPage = /^vue(\/|$)/.test(id) && importer?.endsWith('.md') === true;
          return isForPage ? this.resolve(id, join(site, 'index.md'), { ...options, skipSelf: true }) : undefined;
        },
      },
    ],
  };
}

const QUERY = '?bundled';

/**
 * A plugin of Vite: `import text from './file.ts?bundled'` gives the file and all that it imports as the text of one script.
 *
 * @returns {import('vitepress').Plugin}
 */
function bundledText() {
  return {
    name: 'bundled-text',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(QUERY)) return undefined;
      const { outputFiles } = await build({
        ...{ entryPoints: [id.slice(0, -QUERY.length)], bundle: true, write: false, minify: true },
        ...{ format: 'iife', platform: 'browser', target: 'es2022' },
      });
      return `export default ${JSON.stringify(outputFiles[0]?.text)};`;
    },
  };
}
