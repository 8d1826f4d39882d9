// @ts-check
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { NO_PAGES, pageOf } from '../lib/pages.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));

/** Pages outside this folder do not see what is installed in it. @returns {import('vite').Plugin} */
function vueForPages() {
  return {
    name: 'vue-for-pages',
    enforce: 'pre',
    resolveId(id, importer, options) {
      const isForPage = /^vue(\/|$)/.test(id) && importer?.endsWith('.md') === true;
      return isForPage ? this.resolve(id, `${here}index.md`, { ...options, skipSelf: true }) : undefined;
    },
  };
}

export default defineConfig({
  title: 'Concord',
  description: 'One compute contract, many GPUs, the same answer on every device.',
  // Pages stay where GitHub shows them: here, in docs/, in bench/, beside the packages.
  srcDir: '../..',
  srcExclude: NO_PAGES,
  rewrites: pageOf,
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  vite: {
    publicDir: fileURLToPath(new URL('../public', import.meta.url)),
    plugins: [vueForPages()],
  },
  ignoreDeadLinks: true,
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Playground', link: '/playground' },
      { text: 'Test my GPU', link: '/test-my-gpu' },
    ],
  },
});
