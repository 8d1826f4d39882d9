import { constants } from 'node:os';
import type { Program } from './program.ts';

/** Runs a program on the arguments, the streams and the Ctrl-C of this process. */
export async function runMain(runProgram: Program): Promise<void> {
  const interrupt = new AbortController();
  // Once: a second Ctrl-C ends the process immediately, should the first one hang in a driver.
  process.once('SIGINT', () => interrupt.abort());

  // The reader has closed the pipe, as `| head` does: end without an error message, as programs do that SIGPIPE ends.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(128 + constants.signals.SIGPIPE);
    });
  }

  const { stdout, stderr } = process;
  process.exitCode = await runProgram(process.argv.slice(2), { stdout, stderr, signal: interrupt.signal });
}
