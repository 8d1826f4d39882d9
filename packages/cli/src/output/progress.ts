import cliProgress from 'cli-progress';
import type { Output } from '../context.ts';

/** A bar that is drawn on a terminal and nowhere else. */
export interface Progress {
  /** True if anything is drawn; if not, the command prints lines instead. */
  readonly visible: boolean;
  update(done: number, total: number, label: string): void;
  /** Removes the bar. Idempotent. */
  stop(): void;
}

/** Makes a progress bar on `output`, invisible where that is no terminal. */
export function createProgress(output: Output): Progress {
  if (output.isTTY !== true) return { visible: false, update: () => undefined, stop: () => undefined };
  const bar = new cliProgress.SingleBar({
    // The library asks a stream for more than it uses; what is a terminal here has all of it.
    stream: output as NodeJS.WriteStream,
    format: '{bar} {percentage}%  {label}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    // Ctrl-C is handled by the command itself.
    gracefulExit: false,
  });
  let started = false;
  return {
    visible: true,
    update(done, total, label) {
      if (!started) bar.start(total, done, { label });
      started = true;
      bar.setTotal(total);
      bar.update(done, { label });
    },
    stop() {
      if (started) bar.stop();
      started = false;
    },
  };
}
