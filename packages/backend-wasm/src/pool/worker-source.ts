import { onMessage, workerMain, type WorkerParts } from './worker-main.ts';
import { makeCodeTable, runTiles } from './code-table.ts';
import { computeTiles, finishCommand, helpCommand, reportFault, serveRing, sleepWhile } from './serve-ring.ts';
import { serveSteps, takeStep } from './serve-steps.ts';

/** Everything that a worker is made of but its beginning, `workerMain`. */
export const WORKER_PARTS: WorkerParts = {
  ...{ makeCodeTable, runTiles, onMessage },
  ...{ serveRing, helpCommand, computeTiles, finishCommand, reportFault, sleepWhile },
  ...{ serveSteps, takeStep },
};

/**
 * The source of a worker: its functions as this package was built or bundled. It is complete, so that no file has to
 * be found at run time.
 */
export function workerSource(): string {
  const parts = Object.entries(WORKER_PARTS).map(([name, part]) => `${name}: ${String(part)}`);
  return `(${String(workerMain)})({ ${parts.join(',\n')} });\n`;
}
