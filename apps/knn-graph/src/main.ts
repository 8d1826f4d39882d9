import { runMain } from '@concord/example-command';
import { runProgram } from './program.ts';
await runMain(runProgram);
process.exit(); // BullMQ's timers go on where Redis is gone
