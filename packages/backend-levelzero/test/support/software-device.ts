import { readyDriver } from '../../../../software-devices/level-zero-cpu/lib/cache.mjs';
import { useDriver } from '../../../../software-devices/level-zero-cpu/preload.mjs';

// Every test file runs in its own process, in which the loader has the driver for the CPU instead of Intel's. On a
// machine with a GPU, CONCORD_LEVEL_ZERO=system runs the tests on that; where set-up could not make the driver, so do they.
const isChosen = process.env['ZE_ENABLE_ALT_DRIVERS'] !== undefined;
if (process.env['CONCORD_LEVEL_ZERO'] !== 'system' && !isChosen && readyDriver()) useDriver();
