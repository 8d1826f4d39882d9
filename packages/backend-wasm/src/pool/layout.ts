/**
 * The layout of the start of the shared memory, as indices of 32-bit words. The worker's source gets this object as
 * JSON.
 */
export const LAYOUT = {
  /** The number of commands queued so far, modulo 2^32. Idle workers sleep on it. */
  queued: 0,
  /** The number of commands done, modulo 2^32. Workers that have no tile left sleep on it. */
  done: 16,
  /** The number of workers that sleep on `done`. */
  sleepers: 17,
  /** 1 while the caller waits for `done` to reach `target`. */
  isWanted: 18,
  target: 19,
  /** Changes when the target is reached; the caller sleeps on it. */
  signal: 32,
  /** The number, plus one, of bytes of the message of the first fault; 0 while there was none. */
  fault: 33,
  faultText: 48,
  faultTextBytes: 320,
  /** The command at which each worker is, so that its slot is not written again. */
  positions: 128,
  maxThreads: 64,
  /** The ring. */
  slots: 256,
  slotCount: 1024,
  slotWords: 128,
  /** Words of a slot. Its tiles are claimed at `next`; `left` counts down those that are not done. */
  next: 0,
  left: 1,
  tiles: 2,
  codeIndex: 3,
  codeVersion: 4,
  codeAddress: 5,
  codeBytes: 6,
  argsAddress: 7,
  scratchAddress: 8,
  scratchBytes: 9,
  /** The arguments of a command lie in its slot where they fit. */
  args: 16,
  /** The number of times that a word is read before the thread sleeps: some 40 microseconds. */
  spins: 2000,
} as const;

/** The type of {@link LAYOUT}. */
export type Layout = typeof LAYOUT;

/** Words that a slot has room for. */
export const SLOT_ARGS: number = LAYOUT.slotWords - LAYOUT.args;

/** The address at which the heap begins. */
export const HEAP_START: number = (LAYOUT.slots + LAYOUT.slotCount * LAYOUT.slotWords) * 4;
