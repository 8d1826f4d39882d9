// @ts-check
/** @typedef {import('vitepress').DefaultTheme.Config} Theme */

/**
 * The search over all pages. VitePress sends the function to the page as text, so it uses nothing from around it.
 *
 * @type {NonNullable<Theme['search']>}
 */
export const search = {
  provider: 'local',
  options: {
    _render(source, env, md) {
      const html = md.render(source, env);
      if (env.frontmatter?.search === false) return '';
      // "Parameters", "Returns" and the like are no sections that somebody looks for.
      if (!env.relativePath.startsWith('api/')) return html;
      return html.replaceAll(/<h[4-6][^]*?<\/h[4-6]>|<table[^]*?<\/table>|<pre[^]*?<\/pre>/g, '');
    },
    miniSearch: {
      searchOptions: {
        boostDocument: (id, term, { title = '' } = {}) => {
          const name = String(title)
            .toLowerCase()
            .replaceAll(/^\d+\. |\(\)$/g, '');
          const place = /\/(functions|errors)\.html/.test(id)
            ? 4
            : /\/(start|recipes|guide)\//.test(id)
              ? 3
              : /\/(api|decisions|benchmarks|packages|examples|software-devices)\//.test(id)
                ? 0.3
                : 1;
          // `OUT_OF_MEMORY` is three words of the index.
          return name === term || (name.includes('_') && name.split('_').includes(term)) ? 10 * place : place;
        },
      },
    },
  },
};
