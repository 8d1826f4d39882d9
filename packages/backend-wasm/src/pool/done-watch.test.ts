import { expect, it, vi } from 'vitest';
import { CommandRing } from './command-ring.ts';
import { DoneWatch } from './done-watch.ts';
import { LAYOUT as L } from './layout.ts';

const events = { onFailure: () => undefined, onLost: () => undefined };

/** A ring of which so many commands are done as the test says. */
function watched() {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
  const ring = new CommandRing(memory, 1, () => undefined, events);
  const keepAlive = vi.fn<(isWaiting: boolean) => void>();
  const finish = (count: number): void => {
    Atomics.store(ring.words, L.done, count);
    Atomics.add(ring.words, L.signal, 1);
    Atomics.notify(ring.words, L.signal);
  };
  return { watch: new DoneWatch(ring, keepAlive), keepAlive, finish };
}

it('keeps the process alive while somebody waits, and no longer', async () => {
  const { watch, keepAlive, finish } = watched();
  for (const target of [1, 2]) {
    const waits = [watch.until(target, () => true), watch.until(target, () => true)];
    expect(keepAlive.mock.calls).toEqual([[true]]);
    finish(target);
    await Promise.all(waits);
    await vi.waitFor(() => expect(keepAlive.mock.calls).toEqual([[true], [false]]));
    keepAlive.mockClear();
  }
});

it('ends a wait that nobody wants any more, and all when it is closed', async () => {
  const { watch, keepAlive } = watched();
  await watch.until(1, () => false);
  await vi.waitFor(() => expect(keepAlive.mock.calls).toEqual([[true], [false]]));
  const open = watch.until(5, () => true);
  watch.close();
  await open;
});
