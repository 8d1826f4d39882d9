import { setImmediate } from 'node:timers/promises';
import { type ComputeBackend, type DevicePtr, offsetPtr, upload } from '@concord/backend-core';
import { UserError } from '@concord/example-command';
import { LRUCache } from 'lru-cache';
import type { Corpus } from './corpus.ts';
import { fromBytes, merge, type Neighbours } from './neighbours.ts';
import { digestOf, type Plan, rangesOf } from './plan.ts';

/** Computes tiles on a device, where shards stay as long as there is room. */
export class TileComputer {
  readonly #plan: Plan;
  readonly #corpus: Corpus;
  readonly #backend: ComputeBackend;
  readonly #order: number[];
  readonly #resident: LRUCache<number, DevicePtr>;

  /** @param memoryBytes - of the device, for shards; one is there in any case */
  constructor(plan: Plan, corpus: Corpus, backend: ComputeBackend, memoryBytes: number) {
    [this.#plan, this.#corpus, this.#backend] = [plan, corpus, backend];
    this.#order = [...plan.digests.keys()];
    const max = Math.max(1, Math.floor(memoryBytes / (plan.shardRows * plan.dimensions * 4)));
    this.#resident = new LRUCache({ max, dispose: (ptr) => backend.free(ptr) });
  }

  /** The `k` neighbours of each vector of a tile. */
  async compute(tile: number): Promise<Neighbours> {
    const [from, to] = rangesOf(this.#plan, this.#plan.tileRows)[tile] as readonly [number, number];
    const queries = upload(this.#backend, await this.#corpus.read(from, to));
    try {
      const parts: Neighbours[] = [];
      // There and back: the shards that the last tile used last are still on the device.
      for (const shard of this.#order.reverse()) parts.push(await this.#search(queries, to - from, shard));
      return merge(parts, this.#plan.k, from);
    } finally {
      this.#backend.free(queries);
    }
  }

  /** The best of a shard for each query: one more than `k` if there are as many, as a vector finds itself. */
  async #search(queries: DevicePtr, rows: number, shard: number): Promise<Neighbours> {
    const { shardRows, dimensions, k } = this.#plan;
    const [first, end] = rangesOf(this.#plan, shardRows)[shard] as readonly [number, number];
    const [columns, width] = [end - first, Math.min(k + 1, end - first)];
    const candidates = this.#resident.get(shard) ?? (await this.#load(shard, first, end));
    const backend = this.#backend;
    const bytes = new Uint8Array(2 * rows * width * 4);
    const [scores, values] = [backend.alloc(rows * columns * 4), backend.alloc(bytes.length)];
    try {
      backend.gemm({ m: rows, n: columns, k: dimensions, transB: 'T', a: queries, b: candidates, c: scores });
      const indices = offsetPtr(values, bytes.length / 2);
      backend.topK({ input: scores, values, indices, rows, columns, k: width });
      await backend.copyDtoh(bytes, values);
      // Also after a backend that blocked the process: BullMQ renews its lock of the tile.
      await setImmediate();
      const best = fromBytes(bytes, rows);
      return { ...best, vectors: best.vectors.map((place) => first + place) };
    } finally {
      for (const ptr of [scores, values]) backend.free(ptr);
    }
  }

  async #load(shard: number, first: number, end: number): Promise<DevicePtr> {
    const rows = await this.#corpus.read(first, end);
    if (digestOf(rows) !== this.#plan.digests[shard]) {
      const message = `vectors ${first} to ${end - 1} are not those that the graph was begun with`;
      throw new UserError('OTHER_CORPUS', message, { hint: 'give all workers the same file, with --corpus' });
    }
    const ptr = upload(this.#backend, rows);
    this.#resident.set(shard, ptr);
    return ptr;
  }

  /** Frees the shards and closes the corpus, which is this object's. */
  dispose(): Promise<void> {
    this.#resident.clear();
    return this.#corpus.close();
  }
}
