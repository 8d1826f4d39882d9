// dawn.node answers promises only while it polls, and it polls by calling `globalThis.setImmediate` again and again: a
// whole core, taken from the very threads that run the shaders of a software device. There is no option for it. So calls
// that start a promise run with a `setImmediate` of ours in place, for as long as the call itself lasts (no other code
// of the process ever sees it), and so does each poll, which schedules the next one.

/** Polls before the first pause: most answers of a real GPU come within them. */
const EAGER_MS = 2;
/** The delay after which an answer may be noticed, as a share of the wait for it. A poll takes some 30 us. */
const LATENESS = 1 / 200;
/** From then on pauses are timers, which take a millisecond or more. */
const LONG_MS = 100;

type Callback = () => void;
type SetImmediate = (callback: Callback) => unknown;

const realm = globalThis as unknown as { setImmediate: SetImmediate };
let pollingSince = 0;

/** Calls `start` so that Dawn's polling for its promise leaves pauses. */
export function awaitingPolitely<T>(start: () => Promise<T>): Promise<T> {
  pollingSince = performance.now();
  return withOwnSetImmediate(start);
}

function withOwnSetImmediate<T>(run: () => T): T {
  const original = realm.setImmediate;
  realm.setImmediate = (poll) => schedule(original, () => withOwnSetImmediate(poll));
  try {
    return run();
  } finally {
    realm.setImmediate = original;
  }
}

function schedule(setImmediate: SetImmediate, poll: Callback): void {
  const waited = performance.now() - pollingSince;
  if (waited >= LONG_MS) {
    setTimeout(poll, 1);
    return;
  }
  if (waited >= EAGER_MS) sleep(waited * LATENESS);
  setImmediate(poll);
}

const neverSet = new Int32Array(new SharedArrayBuffer(4));

/** Nothing else in JavaScript pauses for less than a millisecond. */
function sleep(ms: number): void {
  Atomics.wait(neverSet, 0, 0, ms);
}
