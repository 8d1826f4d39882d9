import { constants } from 'node:os';
import type { CommandContext } from './command.ts';

/** Runs a program on the arguments, the streams and the Ctrl-C of this process. */
export async function runMain(
  runProgram: (args: readonly string[], context: CommandContext) => Promise<number>,
): Promise<void> {
  const interrupt = new AbortController();
  // Once: a second Ctrl-C ends the process at once, should the first one hang in a driver.
  process.once('SIGINT', () => interrupt.abort());

  // The reader went away, as `| head` does. Programs that do not handle the signal die of it without a word; so does this.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(128 + constants.signals.SIGPIPE);
    });
  }

  const { stdout, stderr } = process;
  process.exitCode = await runProgram(process.argv.slice(2), { stdout, stderr, signal: interrupt.signal });
}
