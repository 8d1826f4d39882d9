import type { CommandRing } from './command-ring.ts';
import { LAYOUT as L } from './layout.ts';

/** The time between two looks of a wait at whether anybody still wants it. */
const LOOK_MS = 100;
/** The same if the engine has no `Atomics.waitAsync`. */
const POLL_MS = 1;

interface AsyncAtomics {
  waitAsync?(words: Int32Array, index: number, value: number, timeoutMs: number): { readonly value: unknown };
}

interface Waiter {
  readonly target: number;
  readonly isWanted: () => boolean;
  readonly resolve: () => void;
}

/** Waits of the caller for commands to be done, without blocking it. */
export class DoneWatch {
  readonly #ring: CommandRing;
  readonly #keepAlive: (isWaiting: boolean) => void;
  /** The waiters by target, as the queue only grows. */
  readonly #waiters: Waiter[] = [];
  #isWatching = false;

  /** @param keepAlive - told when the first wait begins and the last one ends */
  constructor(ring: CommandRing, keepAlive: (isWaiting: boolean) => void) {
    this.#ring = ring;
    this.#keepAlive = keepAlive;
  }

  /** Resolves when the first `target` commands are done, or when `isWanted` gives false. */
  until(target: number, isWanted: () => boolean): Promise<void> {
    // Most waits are short: sleeping and waking costs more than they last.
    for (let spin = 0; spin < L.spins; spin++) if (this.#ring.done >= target) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push({ target, isWanted, resolve });
      if (!this.#isWatching) void this.#watch();
    });
  }

  /** Ends all waits. */
  close(): void {
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    this.#keepAlive(true);
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      if (this.#ring.done >= next.target || !next.isWanted()) {
        this.#waiters.shift();
        next.resolve();
      } else await this.#sleep(next.target);
    }
    this.#isWatching = false;
    this.#keepAlive(false);
  }

  /** Sleeps until the target is reached, or for a while. */
  async #sleep(target: number): Promise<void> {
    const { words } = this.#ring;
    const signal = Atomics.load(words, L.signal);
    Atomics.store(words, L.target, target | 0);
    Atomics.store(words, L.isWanted, 1);
    // A worker that came just before has not seen that it is wanted.
    if (this.#ring.done >= target) return;
    const asleep = (Atomics as AsyncAtomics).waitAsync?.(words, L.signal, signal, LOOK_MS);
    await (asleep === undefined ? new Promise((resolve) => setTimeout(resolve, POLL_MS)) : asleep.value);
  }
}
