/**
 * The worker as a separate file, for pages whose Content Security Policy forbids `blob:`: the option `workerUrl`.
 *
 * @packageDocumentation
 */
import { workerMain } from './worker-main.ts';
import { WORKER_PARTS } from './worker-source.ts';

workerMain(WORKER_PARTS);
