import type { ComputeBackend } from '@concord/backend-core';
import { type BenchWork, checkEntries, type PlacedWork, placeWork } from '@concord/cli/bench';
import { random, randomCase } from './random-case.ts';

/** Cases that are kept a while, so that memory is not freed in the order it was allocated in. */
const KEPT = 32;
/** Ops between two reads; only reads wait. */
const READ_EVERY = 50;

/** Random ops on a backend, each with its own allocations. */
export class Churn {
  readonly #backend: ComputeBackend;
  readonly #next: () => number;
  readonly #kept: PlacedWork[] = [];
  #done = 0;

  constructor(backend: ComputeBackend, seed: number) {
    this.#backend = backend;
    this.#next = random(seed);
  }

  /** Runs `count` ops, or fewer when `stop` says so, and waits for them. @returns how many there were */
  async run(count: number, stop: () => boolean): Promise<number> {
    for (let i = 0; i < count; i++) {
      const placed = placeWork(this.#draw().work, this.#backend);
      void placed.call();
      this.#done++;
      if (this.#done % READ_EVERY === 0) {
        await placed.touch();
        placed.free();
        // A signal is seen between tasks, and a read of a backend without a device ends within one.
        await new Promise((resolve) => setImmediate(resolve));
        if (stop()) return i + 1;
      } else if (this.#next() < 0.5) this.#keep(placed);
      // While its op may still be queued.
      else placed.free();
    }
    await this.#backend.synchronize();
    return count;
  }

  /**
   * Runs an op and compares its result with the oracle.
   *
   * @throws {Error} when it is wrong
   */
  async check(): Promise<void> {
    const { id, work } = this.#draw();
    const placed = placeWork(work, this.#backend);
    void placed.call();
    const wrong = await checkEntries(work)((indices) => placed.entries(indices));
    placed.free();
    if (wrong !== undefined) throw new Error(`${id}: ${wrong}`);
  }

  /** Frees the cases that are kept. */
  end(): void {
    for (const placed of this.#kept.splice(0)) placed.free();
  }

  /** A random case that the backend has. */
  #draw(): { readonly id: string; readonly work: BenchWork } {
    for (;;) {
      const benchCase = randomCase(this.#next);
      const work = benchCase.prepare();
      if (work.plan !== undefined && this.#backend.supports(work.plan.op, work.plan.call).ok) {
        return { id: benchCase.id, work };
      }
    }
  }

  #keep(placed: PlacedWork): void {
    this.#kept.push(placed);
    if (this.#kept.length <= KEPT) return;
    const [oldest] = this.#kept.splice(Math.floor(this.#next() * KEPT), 1) as [PlacedWork];
    oldest.free();
  }
}
