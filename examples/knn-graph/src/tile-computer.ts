import { setImmediate } from 'node:timers/promises';
import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import { UserError } from '@concord/example-command';
import { LRUCache } from 'lru-cache';
import type { Corpus } from './corpus.ts';
import { fromBytes, merge, type Neighbours } from './neighbours.ts';
import { digestOf, type Plan, rangesOf } from './plan.ts';

const FLOAT_BYTES = 4;
/** Scores on the device at once: a strip of a tile. A backend that blocks the process does so for one strip. */
const SCORE_BYTES = 32 * 2 ** 20;

/** Computes tiles on a device, where shards stay as long as there is room. */
export class TileComputer {
  readonly #plan: Plan;
  readonly #corpus: Corpus;
  readonly #backend: ComputeBackend;
  readonly #order: number[];
  readonly #resident: LRUCache<number, DevicePtr>;

  /** @param memoryBytes - of the device, for shards; one is there in any case */
  constructor(plan: Plan, corpus: Corpus, backend: ComputeBackend, memoryBytes: number) {
    this.#plan = plan;
    this.#corpus = corpus;
    this.#backend = backend;
    this.#order = [...plan.digests.keys()];
    const max = Math.max(1, Math.floor(memoryBytes / (plan.shardRows * plan.dimensions * FLOAT_BYTES)));
    this.#resident = new LRUCache({ max, dispose: (ptr) => backend.free(ptr) });
  }

  /** The `k` neighbours of each vector of a tile. */
  async compute(tile: number): Promise<Neighbours> {
    const { tileRows, k } = this.#plan;
    const [from, to] = rangesOf(this.#plan, tileRows)[tile] as readonly [number, number];
    const vectors = await this.#corpus.read(from, to);
    const queries = this.#backend.alloc(vectors.byteLength);
    try {
      this.#backend.copyHtod(queries, vectors);
      const parts: Neighbours[] = [];
      // There and back: the shards that the last tile used last are still on the device.
      for (const shard of this.#order.reverse()) parts.push(await this.#search(queries, to - from, shard));
      return merge(parts, k, from);
    } finally {
      this.#backend.free(queries);
    }
  }

  /** The best of a shard for each query: one more than `k` if there are as many, as a vector finds itself. */
  async #search(queries: DevicePtr, rows: number, shard: number): Promise<Neighbours> {
    const { shardRows, dimensions, k } = this.#plan;
    const [first, end] = rangesOf(this.#plan, shardRows)[shard] as readonly [number, number];
    const columns = end - first;
    const width = Math.min(k + 1, columns);
    const b = this.#resident.get(shard) ?? (await this.#load(shard, first, end));
    const backend = this.#backend;
    const stripRows = Math.min(rows, Math.max(1, Math.floor(SCORE_BYTES / (columns * FLOAT_BYTES))));
    const scores = backend.alloc(stripRows * columns * FLOAT_BYTES);
    const found = backend.alloc(2 * rows * width * FLOAT_BYTES);
    try {
      for (let row = 0; row < rows; row += stripRows) {
        const m = Math.min(stripRows, rows - row);
        const a = offsetPtr(queries, row * dimensions * FLOAT_BYTES);
        backend.gemm({ m, n: columns, k: dimensions, transB: 'T', a, b, c: scores });
        const values = offsetPtr(found, row * width * FLOAT_BYTES);
        const indices = offsetPtr(values, rows * width * FLOAT_BYTES);
        backend.topK({ input: scores, values, indices, rows: m, columns, k: width });
        // BullMQ renews its lock of the tile.
        await setImmediate();
      }
      const bytes = new Uint8Array(2 * rows * width * FLOAT_BYTES);
      await backend.copyDtoh(bytes, found);
      const best = fromBytes(bytes, rows);
      return { ...best, vectors: best.vectors.map((place) => first + place) };
    } finally {
      backend.free(scores);
      backend.free(found);
    }
  }

  async #load(shard: number, first: number, end: number): Promise<DevicePtr> {
    const rows = await this.#corpus.read(first, end);
    if (digestOf(rows) !== this.#plan.digests[shard]) {
      const message = `vectors ${first} to ${end - 1} are not those that the graph was begun with`;
      throw new UserError('OTHER_CORPUS', message, { hint: 'give all workers the same file, with --corpus' });
    }
    const ptr = this.#backend.alloc(rows.byteLength, { label: `shard ${shard}` });
    this.#backend.copyHtod(ptr, rows);
    this.#resident.set(shard, ptr);
    return ptr;
  }

  /** Frees the shards and closes the corpus, which is this object's. */
  dispose(): Promise<void> {
    this.#resident.clear();
    return this.#corpus.close();
  }
}
