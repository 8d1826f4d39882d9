// @ts-check
// `bundle-cdn.mjs`, run in a package that was built: writes `dist/cdn.js`, all of its exports that a page can use in one file, for
// import maps and CDNs. Other packages of ours that keep state, `backend-core` and `ops`, stay imports.
import { readFileSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { build } from 'esbuild';
import { root } from './lib/paths.mjs';

/** Packages that are one file of their own: two copies of one would not know each other's objects. */
const SHARED = ['@concord/backend-core', '@concord/ops'];
/** Exports that are for Node, and the worker, which is a file by itself. */
const NOT_FOR_PAGES = ['./node', './worker'];

const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.entries(exports).filter(([path, target]) => target.default && !NOT_FOR_PAGES.includes(path));

const { metafile } = await build({
  stdin: {
    contents: entries.map(([, target]) => `export * from ${JSON.stringify(target.default)};`).join('\n'),
    resolveDir: process.cwd(),
  },
  outfile: 'dist/cdn.js',
  ...{ bundle: true, minify: true, format: 'esm', platform: 'browser', target: 'es2022', metafile: true },
  plugins: [
    {
      name: 'shared',
      setup: (own) =>
        own.onResolve({ filter: /^@concord\// }, ({ path }) => {
          const shared = SHARED.find((each) => each !== name && (path === each || path.startsWith(`${each}/`)));
          return shared === undefined ? undefined : { path: shared, external: true };
        }),
    },
  ],
});

// Its licence is ours alone as long as all of it is ours.
for (const file of Object.keys(metafile.inputs).filter((input) => input !== '<stdin>')) {
  const path = relative(root, file);
  if (isAbsolute(path) || !/^packages[/\\][^/\\]+[/\\]dist[/\\]/.test(path)) {
    throw new Error(`dist/cdn.js would hold ${path}, which is not ours: name its licence, or leave it an import`);
  }
}
