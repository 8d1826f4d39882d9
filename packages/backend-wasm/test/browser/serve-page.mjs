// @ts-check
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Headers of the pages, by the folder that they seem to lie in. @type {Record<string, Record<string, string>>} */
const HEADERS = {
  isolated: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  plain: {},
  strict: {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Content-Security-Policy': "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'",
  },
};

/**
 * Bundles the page and the worker's file with esbuild, as a careless program would: minified, names kept. Serves the page as
 * `isolated/`, `plain/` and `strict/`.
 *
 * @returns {Promise<{ url: string, imports: readonly string[], close: () => Promise<void> }>}
 */
export async function servePage() {
  const { outputFiles, metafile } = await build({
    entryPoints: { page: 'test/browser/page.ts', worker: '@concord/backend-wasm/worker' },
    absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
    outdir: 'out',
    bundle: true,
    format: 'esm',
    minify: true,
    keepNames: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const scripts = new Map(outputFiles.map(({ path, text }) => [path.replace(/^.*[/\\]/, ''), text]));
  const server = createServer(({ url = '' }, response) => {
    const [, folder = '', file = ''] = url.split('/');
    const headers = HEADERS[folder];
    const script = scripts.get(file);
    if (url === '/favicon.ico') return void response.writeHead(204).end();
    if (headers === undefined || (file !== '' && script === undefined)) return void response.writeHead(404).end();
    const type = script === undefined ? 'text/html' : 'text/javascript';
    response.writeHead(200, { ...headers, 'Content-Type': type });
    response.end(script ?? '<!doctype html><script type="module" src="page.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    imports: Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
