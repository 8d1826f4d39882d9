import cliProgress from 'cli-progress';
import type { Output } from './output.ts';

/** A bar on a terminal; nothing elsewhere. */
export interface Progress {
  readonly update: (done: number, total: number, note?: string) => void;
  /** Clears the line. */
  readonly stop: () => void;
}

/** @param what - in front of the bar */
export function progressOn(stderr: Output, what: string): Progress {
  const bar = new cliProgress.SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: `${what} {bar} {percentage}% ETA {eta_formatted} {note}`,
    clearOnComplete: true,
    // The program handles Ctrl-C itself.
    gracefulExit: false,
  });
  return {
    update: (done, total, note = '') => {
      if (bar.isActive) bar.update(done, { note });
      else bar.start(total, done, { note });
    },
    stop: () => bar.stop(),
  };
}
