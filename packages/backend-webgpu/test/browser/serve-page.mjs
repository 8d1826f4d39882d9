// @ts-check
import { context } from 'esbuild';

/**
 * @typedef {object} ServedPage the test page on a localhost server
 * @property {string} url
 * @property {readonly string[]} files every file that the bundler read
 * @property {readonly string[]} imports every import that the bundles still have
 * @property {() => Promise<void>} close
 */

/**
 * Bundles the page and its worker with esbuild, without configuration, and serves them.
 *
 * @returns {Promise<ServedPage>}
 */
export async function servePage() {
  const bundler = await context({
    entryPoints: ['page.ts', 'worker.ts'],
    absWorkingDir: import.meta.dirname,
    bundle: true,
    format: 'esm',
    outdir: '.',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  try {
    const { metafile } = await bundler.rebuild();
    const { port } = await bundler.serve({ servedir: import.meta.dirname, host: '127.0.0.1', port: 0 });
    return {
      url: `http://127.0.0.1:${port}/`,
      files: Object.keys(metafile.inputs),
      imports: Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)),
      close: () => bundler.dispose(),
    };
  } catch (error) {
    await bundler.dispose();
    throw error;
  }
}
