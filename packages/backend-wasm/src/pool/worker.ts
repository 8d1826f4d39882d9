/**
 * The worker as a file of its own, for pages whose Content Security Policy forbids `blob:`: the option `workerUrl`.
 *
 * @packageDocumentation
 */
import { makeCodeTable } from './code-table.ts';
import { runTiles } from './run-tiles.ts';
import { serveRing } from './serve-ring.ts';
import { serveSteps } from './serve-steps.ts';
import { workerMain } from './worker-main.ts';

workerMain({ makeCodeTable, runTiles, serveRing, serveSteps });
