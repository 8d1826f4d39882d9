// @ts-check
// Installs and builds, as far as that is needed.
import { prepare } from './lib/prepare.mjs';
import { runMain } from './lib/run.mjs';

await runMain(prepare);
