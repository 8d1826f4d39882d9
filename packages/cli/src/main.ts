import { constants } from 'node:os';
import { runProgram } from './program.ts';

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

process.exitCode = await runProgram(process.argv.slice(2), {
  loadProviders: async () => (await import('./providers.ts')).knownProviders(),
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupt.signal,
});
// What a program that was profiled still has open.
if (interrupt.signal.aborted) setTimeout(() => process.exit(), 1_000).unref();
