import { join } from 'node:path';
import { programsOf } from '../../../backend-core/test/built-package.ts';

/** Runs a program on the device of these tests: ZE_ENABLE_ALT_DRIVERS is set in this process, and inherited. */
export const runProgram = programsOf(join(import.meta.dirname, '../..'), [
  'LevelZeroBackend',
  'LevelZeroClient',
  'levelZero',
]);
