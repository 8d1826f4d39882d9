import { BINARY_OPS, type ComputeBackend, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import {
  attentionCase,
  batchedGemmCase,
  type BenchCase,
  type BenchWork,
  binaryCase,
  checkEntries,
  conv2dCase,
  gemmCase,
  type PlacedWork,
  placeWork,
  reduceCase,
  softmaxCase,
  topKCase,
  unaryCase,
} from '@concord/cli/bench';

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

/** Random numbers in [0, 1) from a seed: mulberry32, by Tommy Ettinger, in the public domain. */
export function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A case of any of the ops, with modest sizes and the options that choose other kernels. */
export function randomCase(next: () => number): BenchCase {
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => items[integer(0, items.length - 1)] as T;
  const transpose = (): 'T' | undefined => pick(['T', undefined]);
  const product = (dtype: 'f32' | 'f16'): BenchCase => {
    const [m, n, k, padding] = [integer(1, 96), integer(1, 96), integer(1, 96), pick([0, 0, 3])];
    return gemmCase('', '', m, n, k, { transA: transpose(), transB: transpose(), padding, dtype });
  };
  const makers: readonly (() => BenchCase)[] = [
    () => product('f32'),
    () => product('f16'),
    () => {
      const sizes = { m: integer(1, 48), n: integer(1, 48), k: integer(1, 48), transB: transpose() };
      return batchedGemmCase('', '', integer(1, 6), sizes);
    },
    () => {
      const [batch, channels, filters, size] = [integer(1, 2), integer(1, 16), integer(1, 16), integer(5, 24)];
      const [window, stride, padding] = [pick([1, 3, 5]), pick([1, 2]), integer(0, 2)];
      return conv2dCase('', '', { batch, channels, filters, size, window, stride, padding });
    },
    () => {
      const [batch, heads, headDim] = [integer(1, 2), integer(1, 4), pick([8, 16, 32, 64])];
      const [causal, seqQ, seqKv] = [pick([true, false]), integer(1, 48), integer(1, 48)];
      return attentionCase('', '', { batch, heads, headDim, seqQ, seqKv: causal ? seqQ : seqKv, causal });
    },
    () => topKCase('', '', integer(1, 64), integer(16, 256), integer(1, 16)),
    () => softmaxCase('', '', integer(1, 64), integer(1, 512), pick([true, false])),
    () => reduceCase('', '', pick(REDUCE_OPS), [integer(1, 12), integer(1, 64), integer(1, 64)], integer(0, 2)),
    () => unaryCase('', '', pick(UNARY_OPS), integer(1, 20_000)),
    () => binaryCase('', '', pick(BINARY_OPS), integer(1, 20_000)),
  ];
  return pick(makers)();
}
