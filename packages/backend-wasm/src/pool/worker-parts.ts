import { makeCodeTable, runTiles } from './code-table.ts';
import { computeTiles, finishCommand, helpCommand, reportFault, serveRing, sleepWhile } from './serve-ring.ts';
import { serveSteps, takeStep } from './serve-steps.ts';
import { onMessage, type WorkerParts } from './worker-main.ts';

/** Everything that a worker is made of but its beginning, `workerMain`. */
export const WORKER_PARTS: WorkerParts = {
  ...{ makeCodeTable, runTiles, onMessage },
  ...{ serveRing, helpCommand, computeTiles, finishCommand, reportFault, sleepWhile },
  ...{ serveSteps, takeStep },
};
