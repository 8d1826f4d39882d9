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
        // Half of the names are a letter from a word of three.
        fuzzy: (term) => (term.length > 3 ? 0.2 : false),
        processTerm: (term) => {
          const word = term.toLowerCase();
          // "a" is the beginning of many names, and people have other words for some.
          if (/^(an?|and|by|do|for|from|how|i|in|is|my|on|or|the|to|with|your?)$/.test(word)) return null;
          if (/^(multipl|matri)/.test(word)) return [word, 'matmul'];
          return word === 'custom' ? [word, 'own'] : word;
        },
        boostDocument: (id, term, { title = '' } = {}) => {
          const name = String(title)
            .toLowerCase()
            .replaceAll(/^\d+\. |\(\)$/g, '');
          const place = /\/functions\.html/.test(id)
            ? 4
            : /\/(errors|writing-a-backend)\.html|\/(start|recipes|guide)\//.test(id)
              ? 3
              : /\/(api|decisions|benchmarks|software-devices)\//.test(id)
                ? 0.3
                : 1;
          if (name === term) return 10 * place;
          const isWord = name.split(/[^\p{L}\p{N}]+/u).includes(term);
          // `OUT_OF_MEMORY` is three words of the index.
          return isWord ? (name.includes('_') ? 5 : 3) * place : place;
        },
      },
    },
  },
};
