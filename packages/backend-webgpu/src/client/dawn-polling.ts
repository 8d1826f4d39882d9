// dawn.node answers promises only while it polls, and it polls by calling `globalThis.setImmediate` again and again: a
// whole core, taken from the very threads that run the shaders of a software device. There is no option for it. So calls
// that start a promise run with a `setImmediate` of ours in place, for as long as the call itself lasts (no other code
// of the process ever sees it), and so does each poll, which schedules the next one.

/** Polls before the first pause: on a real GPU most answers come within them. */
const EAGER_MS = 2;
/** How late an answer may be noticed. A poll takes some 30 us, so this costs a few percent of a core. */
const PAUSE_MS = 1;

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
  if (waited < EAGER_MS) setImmediate(poll);
  else setTimeout(poll, PAUSE_MS);
}
