import { type ComputeBackend, type DevicePtr, offsetPtr, type WaitOptions } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import { DIMENSIONS } from './vocabulary.ts';

const FLOAT_BYTES = 4;
const ROW_BYTES = DIMENSIONS * FLOAT_BYTES;
/** Rows allocated at once: 8 MiB. */
const BLOCK_ROWS = 2048;

/** The scores of listed rows; less than any score where a list names no row. */
const pick = defineKernel(
  'pick',
  { inputs: { scores: { type: 'f32', access: 'gather', rank: 2 }, rows: 'u32' } },
  ({ scores, rows }, k) => ({ picked: k.gather(scores, [k.index(0), rows], k.f32(-2)) }),
);

/** The vectors of all passages in device memory. */
export class PassageMatrix {
  readonly #backend: ComputeBackend;
  readonly #blocks: DevicePtr[] = [];
  #rows = 0;

  constructor(backend: ComputeBackend) {
    this.#backend = backend;
  }

  /** Replaces a row. Searches that were begun before do not see it. */
  put(row: number, vector: Float32Array): void {
    const block = Math.floor(row / BLOCK_ROWS);
    this.#rows = Math.max(this.#rows, row + 1);
    while (this.#blocks.length <= block) this.#blocks.push(this.#backend.alloc(BLOCK_ROWS * ROW_BYTES));
    this.#backend.copyHtod(offsetPtr(this.#blocks[block] as DevicePtr, (row % BLOCK_ROWS) * ROW_BYTES), vector);
  }

  /**
   * For each question, a row of `[m, DIMENSIONS]`, places and scores of the `k` best of a list of rows by their products with
   * it; after the end of the list scores are -2. One product, one choice and one readback for all.
   */
  async best(questions: Float32Array, lists: number[][], k: number, wait: WaitOptions): Promise<[number, number][][]> {
    const backend = this.#backend;
    const m = lists.length;
    const columns = Math.max(k, ...lists.map(({ length }) => length));
    const rows = new Uint32Array(m * columns).fill(this.#rows);
    for (const [index, list] of lists.entries()) rows.set(list, index * columns);
    const found = new Float32Array(2 * m * k);
    const sizes = [questions.length, Math.max(1, m * this.#rows), rows.length, rows.length, found.length];
    const owned: DevicePtr[] = [];
    try {
      for (const size of sizes) owned.push(backend.alloc(size * FLOAT_BYTES));
      const [a, scores, chosen, picked, values] = owned as [DevicePtr, DevicePtr, DevicePtr, DevicePtr, DevicePtr];
      backend.copyHtod(a, questions);
      backend.copyHtod(chosen, rows);
      for (const [index, b] of this.#blocks.entries()) {
        const c = offsetPtr(scores, index * BLOCK_ROWS * FLOAT_BYTES);
        const n = Math.min(BLOCK_ROWS, this.#rows - index * BLOCK_ROWS);
        backend.gemm({ m, n, k: DIMENSIONS, transB: 'T', ldc: this.#rows, a, b, c });
      }
      const inputs = { scores: { ptr: scores, shape: [m, this.#rows] }, rows: chosen };
      backend.run(pick, { shape: [m, columns], inputs, outputs: { picked } });
      backend.topK({ input: picked, values, indices: offsetPtr(values, found.byteLength / 2), rows: m, columns, k });
      await backend.copyDtoh(found, values, wait);
    } finally {
      for (const ptr of owned) backend.free(ptr);
    }
    const places = [...new Uint32Array(found.buffer, found.byteLength / 2)];
    return lists.map((_, i) => places.slice(i * k, (i + 1) * k).map((place, n) => [place, found[i * k + n] as number]));
  }
}
