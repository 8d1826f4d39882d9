import { workerMain } from './worker-main.ts';
import { WORKER_PARTS } from './worker-parts.ts';

/**
 * The source of a worker: its functions as this package was built or bundled. It is complete, so that no file has to
 * be found at run time.
 */
export function workerSource(): string {
  const parts = Object.entries(WORKER_PARTS).map(([name, part]) => `${name}: ${String(part)}`);
  return `(${String(workerMain)})({ ${parts.join(',\n')} });\n`;
}
