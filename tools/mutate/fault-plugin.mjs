// @ts-check
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { plant } from './plant.mjs';

/** Names the fault of a run of the tests: JSON of the fault to plant. */
export const FAULT_VARIABLE = 'CONCORD_FAULT';

/** Names a file that is written once a test has loaded the file with the fault. */
export const LOADED_VARIABLE = 'CONCORD_FAULT_LOADED';

/**
 * The plugin that plants the fault of this run in the one source file as the tests load it. Nothing is copied and nothing
 * rebuilt, so that runs with different faults go on side by side.
 *
 * @returns {{ name: string, enforce: 'pre', transform: (code: string, id: string) => string | undefined }[]} none
 *   where no fault is asked for
 */
export function faultPlugins() {
  const asked = process.env[FAULT_VARIABLE];
  if (asked === undefined || asked === '') return [];
  const fault = /** @type {import('./plant.mjs').Fault} */ (JSON.parse(asked));
  const file = join(root, fault.file);
  return [
    {
      name: 'concord-fault',
      enforce: 'pre',
      transform(code, id) {
        if (id.split('?')[0] !== file) return undefined;
        const loaded = process.env[LOADED_VARIABLE];
        if (loaded !== undefined) writeFileSync(loaded, '');
        return plant(code, fault);
      },
    },
  ];
}
