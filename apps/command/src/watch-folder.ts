import { watch } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/** Runs `update` at once and, one at a time, after changes below a folder, until the signal aborts it. */
export async function watchFolder(folder: string, signal: AbortSignal, update: () => Promise<unknown>): Promise<void> {
  let isChanged = true;
  let failure: Error | undefined;
  const watcher = watch(folder, { recursive: true }, () => (isChanged = true));
  watcher.on('error', (error) => (failure = error));
  try {
    // What is written in several steps is taken as one change.
    for (; !signal.aborted; await setTimeout(50)) {
      if (failure !== undefined) throw failure;
      if (!isChanged) continue;
      isChanged = false;
      await update();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    watcher.close();
  }
}
