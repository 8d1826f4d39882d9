import type { CodeTable } from './code-table.ts';
import type { Layout } from './layout.ts';

// Workers get these functions as source, from whatever bundler: each refers to nothing outside of itself, calls the others
// through its thread, and has no function within that is a variable's or property's value, as bundlers wrap those.

/** One of the threads that share a memory. */
export interface RingThread {
  readonly layout: Layout;
  readonly memory: WebAssembly.Memory;
  /** The ring and its counters. */
  readonly words: Int32Array;
  readonly codes: CodeTable;
  /** The index of this thread, below `threads`. */
  readonly index: number;
  readonly threads: number;
  readonly ringParts: RingParts;
}

/** The functions of a thread. */
export interface RingParts {
  readonly serveRing: typeof serveRing;
  readonly helpCommand: typeof helpCommand;
  readonly computeTiles: typeof computeTiles;
  readonly finishCommand: typeof finishCommand;
  readonly reportFault: typeof reportFault;
  readonly sleepWhile: typeof sleepWhile;
}

/**
 * The endless loop of a worker of a shared memory: it takes tiles of the command at `done`, and sleeps while there are none.
 *
 * A worker may be late at any point. It says at which command it is before it looks at the slot, and then looks again whether that
 * command is still to be done: from there on the slot is not written again before the worker has left it.
 */
export function serveRing(thread: RingThread): never {
  const { layout, words, index, ringParts } = thread;
  const position = layout.positions + 2 * index;
  for (;;) {
    const at = Atomics.load(words, layout.done);
    if (Atomics.load(words, layout.queued) === at) {
      Atomics.store(words, position + 1, 0);
      ringParts.sleepWhile(thread, layout.queued, at);
      continue;
    }
    Atomics.store(words, position, at);
    Atomics.store(words, position + 1, 1);
    if (Atomics.load(words, layout.done) !== at) continue;
    ringParts.helpCommand(thread, at, layout.slots + (at & (layout.slotCount - 1)) * layout.slotWords);
    // The others have the last tiles.
    Atomics.add(words, layout.sleepers, 1);
    ringParts.sleepWhile(thread, layout.done, at);
    Atomics.sub(words, layout.sleepers, 1);
  }
}

/** Does tiles of a command until all are taken. */
export function helpCommand(thread: RingThread, at: number, slot: number): void {
  const { layout, words, threads, ringParts } = thread;
  const tiles = words[slot + layout.tiles] as number;
  for (;;) {
    const seen = Atomics.load(words, slot + layout.next);
    if (seen >= tiles) return;
    // Fewer at a time towards the end, so that the threads are ready together.
    const wanted = Math.max(1, Math.floor((tiles - seen) / (4 * threads)));
    const first = Atomics.add(words, slot + layout.next, wanted);
    if (first >= tiles) return;
    const end = Math.min(tiles, first + wanted);
    try {
      // After a fault no result is valid: the caller gets an error.
      if (Atomics.load(words, layout.fault) === 0) ringParts.computeTiles(thread, slot, first, end);
    } catch (fault) {
      ringParts.reportFault(thread, fault);
    }
    if (Atomics.sub(words, slot + layout.left, end - first) !== end - first) continue;
    ringParts.finishCommand(thread, at);
    return;
  }
}

/** Runs the code of a slot for some of its tiles. */
export function computeTiles(
  { layout, memory, words, codes, index }: RingThread,
  slot: number,
  first: number,
  end: number,
): void {
  const run = codes(words[slot + layout.codeIndex] as number, words[slot + layout.codeVersion] as number, () => {
    const address = (words[slot + layout.codeAddress] as number) >>> 0;
    const bytes = words[slot + layout.codeBytes] as number;
    // Another thread may have grown the memory: this brings `buffer` up to date.
    if (address + bytes > memory.buffer.byteLength) memory.grow(0);
    // A copy: modules are not compiled from shared memory.
    return new Uint8Array(memory.buffer, address, bytes).slice();
  });
  const scratch =
    (words[slot + layout.scratchAddress] as number) + index * (words[slot + layout.scratchBytes] as number);
  run(words[slot + layout.argsAddress] as number, first, end, scratch);
}

/** Makes the next command the one that is to be done, and wakes who waits for that. */
export function finishCommand({ layout, words }: RingThread, at: number): void {
  const done = (at + 1) | 0;
  Atomics.store(words, layout.done, done);
  if (Atomics.load(words, layout.sleepers) > 0) Atomics.notify(words, layout.done);
  if (Atomics.load(words, layout.isWanted) === 0 || ((done - Atomics.load(words, layout.target)) | 0) < 0) return;
  Atomics.store(words, layout.isWanted, 0);
  Atomics.add(words, layout.signal, 1);
  Atomics.notify(words, layout.signal);
}

/** Keeps the message of the first fault, for the caller to read. */
export function reportFault({ layout, memory, words }: RingThread, fault: unknown): void {
  if (Atomics.compareExchange(words, layout.fault, 0, -1) !== 0) return;
  const text = String(fault).slice(0, layout.faultTextBytes);
  const to = new Uint8Array(memory.buffer, layout.faultText * 4, layout.faultTextBytes);
  for (let i = 0; i < text.length; i++) to[i] = text.charCodeAt(i);
  Atomics.store(words, layout.fault, text.length + 1);
}

/** Sleeps while a word has a value, after it was looked at for a while. */
export function sleepWhile({ layout, words }: RingThread, word: number, value: number): void {
  for (let spin = 0; spin < layout.spins; spin++) if (Atomics.load(words, word) !== value) return;
  Atomics.wait(words, word, value);
}
