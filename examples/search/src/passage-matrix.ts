import { type ComputeBackend, type DevicePtr, offsetPtr } from '@concord/backend-core';
import { DIMENSIONS } from './vocabulary.ts';
import type { VectorBlock } from './vectorise.ts';

const FLOAT_BYTES = 4;
const ROW_BYTES = DIMENSIONS * FLOAT_BYTES;

/** Rows of a block on a device with room: 8 MiB, small enough for a lively progress bar. */
const PREFERRED_ROWS = 2048;

interface DeviceBlock {
  readonly values: DevicePtr;
  readonly rows: number;
  /** Number of rows in the blocks before. */
  readonly firstRow: number;
}

/** Rows that one block of a matrix on this backend has at most: no allocation may be larger than the device admits. */
export function rowsPerBlock({ capabilities }: ComputeBackend): number {
  return Math.max(1, Math.min(PREFERRED_ROWS, Math.floor(capabilities.limits.maxAllocationBytes / ROW_BYTES)));
}

/** What {@link PassageMatrix.score} gives. */
export interface Scores {
  /** Cosine of each row with the query. */
  readonly values: Float32Array;
  readonly best: number;
  readonly average: number;
}

/** The vectors of all passages in device memory, with their lengths. Everything is computed there. */
export class PassageMatrix {
  readonly #backend: ComputeBackend;
  readonly #blocks: DeviceBlock[] = [];
  readonly #owned: DevicePtr[] = [];
  #norms: DevicePtr | undefined;
  #rows = 0;

  constructor(backend: ComputeBackend) {
    this.#backend = backend;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Bytes of the vectors. */
  get bytes(): number {
    return this.#rows * ROW_BYTES;
  }

  /** Uploads a block; its values may be overwritten afterwards. */
  append({ values, passages }: VectorBlock): void {
    const ptr = this.#alloc(passages.length * DIMENSIONS, 'passages');
    this.#backend.copyHtod(ptr, values);
    this.#blocks.push({ values: ptr, rows: passages.length, firstRow: this.#rows });
    this.#rows += passages.length;
  }

  /** Computes the Euclidean length of every row: multiply by itself, sum along the row, square root. */
  computeNorms(): void {
    const norms = this.#alloc(this.#rows, 'norms');
    const largest = Math.max(...this.#blocks.map(({ rows }) => rows));
    const squares = this.#alloc(largest * DIMENSIONS, 'squares');
    for (const { values, rows, firstRow } of this.#blocks) {
      this.#sumOfSquares(values, rows, squares, offsetPtr(norms, firstRow * FLOAT_BYTES));
    }
    this.#free(squares);
    this.#backend.unary({ op: 'sqrt', input: norms, output: norms, n: this.#rows });
    this.#norms = norms;
  }

  /**
   * The cosine of every row with `query`: products with the query, divided by both lengths, and the largest and the mean
   * of them.
   */
  async score(query: Float32Array, signal: AbortSignal): Promise<Scores> {
    const backend = this.#backend;
    const n = this.#rows;
    const norms = this.#norms;
    if (norms === undefined) throw new Error('computeNorms() comes first');
    const vector = this.#alloc(DIMENSIONS, 'query');
    const scratch = this.#alloc(DIMENSIONS, 'query squares');
    const queryNorm = this.#alloc(1, 'query norm');
    const scores = this.#alloc(n, 'scores');
    const lengths = this.#alloc(n, 'lengths');
    const statistics = this.#alloc(2, 'best and average');

    backend.copyHtod(vector, query);
    for (const { values, rows, firstRow } of this.#blocks) {
      const c = offsetPtr(scores, firstRow * FLOAT_BYTES);
      backend.gemm({ m: rows, n: 1, k: DIMENSIONS, a: values, b: vector, c });
    }
    this.#sumOfSquares(vector, 1, scratch, queryNorm);
    backend.unary({ op: 'sqrt', input: queryNorm, output: queryNorm, n: 1 });
    // A column times a single number: how the contract multiplies by a scalar that never leaves the device.
    backend.gemm({ m: n, n: 1, k: 1, a: norms, b: queryNorm, c: lengths });
    backend.binary({ op: 'div', a: scores, b: lengths, output: scores, n });
    const average = offsetPtr(statistics, FLOAT_BYTES);
    backend.reduce({ op: 'max', input: scores, output: statistics, shape: [n], axis: 0 });
    backend.reduce({ op: 'mean', input: scores, output: average, shape: [n], axis: 0 });

    const values = new Float32Array(n);
    const summary = new Float32Array(2);
    await backend.copyDtoh(values, scores, { signal });
    await backend.copyDtoh(summary, statistics, { signal });
    for (const ptr of [vector, scratch, queryNorm, scores, lengths, statistics]) this.#free(ptr);
    return { values, best: summary[0] as number, average: summary[1] as number };
  }

  /** Frees everything that is still on the device. Idempotent. */
  free(): void {
    for (const ptr of [...this.#owned]) this.#free(ptr);
    this.#blocks.length = 0;
    this.#norms = undefined;
    this.#rows = 0;
  }

  #sumOfSquares(input: DevicePtr, rows: number, squares: DevicePtr, output: DevicePtr): void {
    this.#backend.binary({ op: 'mul', a: input, b: input, output: squares, n: rows * DIMENSIONS });
    this.#backend.reduce({ op: 'sum', input: squares, output, shape: [rows, DIMENSIONS], axis: 1 });
  }

  #alloc(elements: number, label: string): DevicePtr {
    const ptr = this.#backend.alloc(elements * FLOAT_BYTES, { label });
    this.#owned.push(ptr);
    return ptr;
  }

  #free(ptr: DevicePtr): void {
    this.#owned.splice(this.#owned.indexOf(ptr), 1);
    this.#backend.free(ptr);
  }
}
