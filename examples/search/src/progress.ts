import type { Output } from '@concord/example-command';
import cliProgress from 'cli-progress';

/** A bar that is drawn on a terminal and nowhere else. */
export interface Progress {
  update(done: number, total: number): void;
  /** Removes the bar. */
  stop(): void;
}

/** Makes a bar that appears with the first update. */
export function createProgress(output: Output, label: string): Progress {
  if (output.isTTY !== true) return { update: () => undefined, stop: () => undefined };
  const bar = new cliProgress.SingleBar({
    stream: output as NodeJS.WriteStream,
    format: `{bar} {percentage}%  {value}/{total} ${label}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    // Ctrl-C is handled by the program itself.
    gracefulExit: false,
  });
  let started = false;
  return {
    update(done, total) {
      if (!started) bar.start(total, done);
      started = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop() {
      if (started) bar.stop();
    },
  };
}
