import { makeCodeTable } from './code-table.ts';
import { runTiles } from './run-tiles.ts';
import { serveRing } from './serve-ring.ts';
import { serveSteps } from './serve-steps.ts';
import { workerMain, type WorkerParts } from './worker-main.ts';

const PARTS: WorkerParts = { makeCodeTable, runTiles, serveRing, serveSteps };

/**
 * The source of a worker: its functions as this package was built or bundled. What it needs comes with it, so that no file has to
 * be found at run time.
 */
export function workerSource(): string {
  const parts = Object.entries(PARTS).map(([name, part]) => `${name}: ${String(part)}`);
  // esbuild with keepNames wraps functions in a call of this.
  return `const __name = (value) => value;\n(${String(workerMain)})({ ${parts.join(',\n')} });\n`;
}
