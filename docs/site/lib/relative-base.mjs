// @ts-check
// VitePress writes the folder that a site is served from into every page and script. Ours is to work from any folder, also
// after it was moved. It is built for a stand-in, which becomes a relative path in pages and styles. In scripts it becomes the
// folder that the page found.
import { posix } from 'node:path';

/** The folder that the site is built for. */
export const STAND_IN = '/__folder-of-the-site__/';

/** The expression that gives the folder in a page: `/` or `/some/folder/`. */
const FOUND = 'globalThis.__SITE_FOLDER__';

/**
 * The HTML of a page, without the stand-in.
 *
 * @param {string} html
 * @param {string} page from the top of the site, with `/` between folders
 * @returns {string}
 */
export function withRelativeBase(html, page) {
  const up = posix.relative(posix.dirname(page), '.');
  const folder = up === '' ? './' : `${up}/`;
  const found = `<script>${FOUND}=new URL(${JSON.stringify(folder)},location.href).pathname</script>`;
  return html
    .replace('<head>', `<head>\n    ${found}`)
    .replaceAll(/(\s(?:href|src|content)=")([^"]*)/g, (_, start, value) => start + value.replaceAll(STAND_IN, folder))
    .replaceAll(STAND_IN, `"+${FOUND}+"`);
}

/** @returns {import('./vite-for-pages.mjs').ViteConfig} what Vite needs to know */
export function viteForRelativeBase() {
  return {
    define: { 'import.meta.env.BASE_URL': FOUND },
    experimental: {
      renderBuiltUrl: (file, { hostType, ssr }) => {
        if (ssr) return undefined;
        return hostType === 'js' ? { runtime: FOUND + '+' + JSON.stringify(file) } : { relative: true };
      },
    },
    plugins: [
      {
        name: 'relative-base-of-the-search',
        enforce: 'post',
        // The addresses of all sections, in a string of JSON: too many for one expression.
        transform: (code, id) =>
          id.startsWith('/@localSearchIndex')
            ? code.replace(/^export default (".*");?$/, `export default $1.replaceAll('${STAND_IN}', ${FOUND})`)
            : undefined,
      },
    ],
  };
}
