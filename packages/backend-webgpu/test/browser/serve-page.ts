import { context } from 'esbuild';

/** The test page on a localhost server. */
export interface ServedPage {
  readonly url: string;
  /** Every file that the bundler read. */
  readonly files: readonly string[];
  /** Every import that the bundles still have. */
  readonly imports: readonly string[];
  close(): Promise<void>;
}

/** Bundles the page and its worker with esbuild, without configuration, and serves them. */
export async function servePage(): Promise<ServedPage> {
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
