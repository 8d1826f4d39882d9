// @ts-check
// `npm start`: bundles the page and serves it on this machine until Ctrl-C. `npm start -- --port 8080` sets the port.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { context } from 'esbuild';

/**
 * Serves the page; a change of its sources is in it after a reload.
 *
 * @param {number} [port] 0: any that is free. Default: the first free one from 8000 on
 * @returns {Promise<{ url: string, close(): Promise<void> }>}
 */
export async function startServer(port) {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const bundler = await context({
    absWorkingDir: folder,
    entryPoints: ['src/main.ts'],
    outdir: 'public',
    write: false,
    bundle: true,
    format: 'esm',
    sourcemap: true,
    logLevel: 'warning',
  });
  try {
    const served = await bundler.serve({ servedir: 'public', host: '127.0.0.1', ...(port !== undefined && { port }) });
    return { url: `http://localhost:${served.port}/`, close: () => bundler.dispose() };
  } catch (error) {
    await bundler.dispose();
    throw error;
  }
}

/** @param {string} text */
function portOf(text) {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${text} is no port`);
  return port;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' } } });
    const server = await startServer(values.port === undefined ? undefined : portOf(values.port));
    console.log(`${server.url} (Ctrl-C ends)`);
    process.once('SIGINT', () => void server.close());
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
