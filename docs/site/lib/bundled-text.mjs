// @ts-check
import { build } from 'esbuild';

const QUERY = '?bundled';

/**
 * A plugin of Vite: `import text from './file.ts?bundled'` gives the file and all that it imports as the text of one script.
 *
 * @returns {import('vitepress').Plugin}
 */
export function bundledText() {
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
