import { runMain } from '@concord/example-command';
import { runProgram } from './program.ts';

await runMain(runProgram);
