import type { CodeTable } from './code-table.ts';
import type { Layout } from './layout.ts';

/**
 * What a worker of a shared memory does for ever: takes tiles of the command at `done`, and sleeps where there are none. Refers
 * to nothing outside of itself: workers get its source.
 *
 * A worker may be late at any point. It says at which command it is before it looks at the slot, and then looks again whether that
 * command is still to be done: from there on the slot is not written again before the worker has left it.
 *
 * @param index - which of the `threads` workers this is
 */
export function serveRing(
  layout: Layout,
  codes: CodeTable,
  memory: WebAssembly.Memory,
  index: number,
  threads: number,
): never {
  const words = new Int32Array(memory.buffer);
  const position = layout.positions + 2 * index;
  const isBusy = position + 1;

  const sleepWhile = (word: number, value: number): void => {
    for (let spin = 0; spin < layout.spins; spin++) if (Atomics.load(words, word) !== value) return;
    Atomics.wait(words, word, value);
  };

  const report = (fault: unknown, at: number): void => {
    if (Atomics.compareExchange(words, layout.fault, 0, -1) !== 0) return;
    const text = String(fault).slice(0, layout.faultTextBytes);
    const to = new Uint8Array(memory.buffer, layout.faultText * 4, layout.faultTextBytes);
    for (let i = 0; i < text.length; i++) to[i] = text.charCodeAt(i);
    words[layout.faultAt] = at;
    Atomics.store(words, layout.fault, text.length + 1);
  };

  const finish = (at: number): void => {
    const done = (at + 1) | 0;
    Atomics.store(words, layout.done, done);
    if (Atomics.load(words, layout.sleepers) > 0) Atomics.notify(words, layout.done);
    if (Atomics.load(words, layout.isWanted) === 0 || ((done - Atomics.load(words, layout.target)) | 0) < 0) return;
    Atomics.store(words, layout.isWanted, 0);
    Atomics.add(words, layout.signal, 1);
    Atomics.notify(words, layout.signal);
  };

  const wordAt = (place: number): number => words[place] as number;

  const compute = (slot: number, first: number, end: number): void => {
    const run = codes(wordAt(slot + layout.codeIndex), wordAt(slot + layout.codeVersion), () => {
      const address = wordAt(slot + layout.codeAddress) >>> 0;
      const bytes = wordAt(slot + layout.codeBytes);
      // Another thread may have grown the memory: this brings `buffer` up to date.
      if (address + bytes > memory.buffer.byteLength) memory.grow(0);
      // A copy: modules are not compiled from shared memory.
      return new Uint8Array(memory.buffer, address, bytes).slice();
    });
    const scratch = wordAt(slot + layout.scratchAddress) + index * wordAt(slot + layout.scratchBytes);
    run(wordAt(slot + layout.argsAddress), first, end, scratch);
  };

  /** Does tiles until all are taken. */
  const help = (at: number, slot: number): void => {
    const tiles = wordAt(slot + layout.tiles);
    for (;;) {
      const seen = Atomics.load(words, slot + layout.next);
      if (seen >= tiles) return;
      // Fewer at a time towards the end, so that the threads are ready together.
      const wanted = Math.max(1, Math.floor((tiles - seen) / (4 * threads)));
      const first = Atomics.add(words, slot + layout.next, wanted);
      if (first >= tiles) return;
      const end = Math.min(tiles, first + wanted);
      try {
        // Behind a fault nothing has a meaning: the caller gets an error.
        if (Atomics.load(words, layout.fault) === 0) compute(slot, first, end);
      } catch (fault) {
        report(fault, at);
      }
      if (Atomics.sub(words, slot + layout.left, end - first) === end - first) return finish(at);
    }
  };

  for (;;) {
    const at = Atomics.load(words, layout.done);
    if (Atomics.load(words, layout.queued) === at) {
      Atomics.store(words, isBusy, 0);
      sleepWhile(layout.queued, at);
      continue;
    }
    Atomics.store(words, position, at);
    Atomics.store(words, isBusy, 1);
    if (Atomics.load(words, layout.done) !== at) continue;
    help(at, layout.slots + (at & (layout.slotCount - 1)) * layout.slotWords);
    // The others have the last tiles.
    Atomics.add(words, layout.sleepers, 1);
    sleepWhile(layout.done, at);
    Atomics.sub(words, layout.sleepers, 1);
  }
}
