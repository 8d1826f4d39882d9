import { buildSync } from 'esbuild';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { LAYOUT } from './layout.ts';
import type { Start } from './worker-main.ts';

const STARTS: readonly Start[] = [
  {
    kind: 'ring',
    layout: LAYOUT,
    memory: new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true }),
    index: 0,
    threads: 1,
  },
  { kind: 'steps', firstBytes: 2 ** 20, maxBytes: 2 ** 20 },
];

// Bundlers put helpers around functions, which a worker does not have.
it.each([{}, { minify: true }, { keepNames: true }, { minify: true, keepNames: true }, { target: 'es2017' }])(
  'runs by itself as esbuild makes it with %o',
  async (options) => {
    const entry = join(import.meta.dirname, 'worker-source.ts');
    const built = buildSync({ entryPoints: [entry], bundle: true, format: 'esm', write: false, ...options });
    const [file] = built.outputFiles;
    const { workerSource } = (await import(`data:text/javascript,${encodeURIComponent(file?.text ?? '')}`)) as {
      readonly workerSource: () => string;
    };
    for (const start of STARTS) {
      const worker = new Worker(workerSource(), { eval: true });
      const answer = new Promise((resolve, reject) => {
        worker.on('message', resolve);
        worker.on('error', reject);
      });
      worker.postMessage(start);
      if (start.kind === 'steps') worker.postMessage([{ kind: 'read', id: 1, address: 0, length: 0 }]);
      expect(await answer).toEqual({ kind: 'ready' });
      await worker.terminate();
    }
  },
);
