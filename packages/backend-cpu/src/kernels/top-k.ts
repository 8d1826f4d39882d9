/**
 * topK: one pass over each row with a heap of the k best so far, the worst of them on top: most elements cost one
 * comparison with it. A later element that equals the top is no better, so that of equals the first stay.
 *
 * Elements are handled by their bits, of which signed integers in the order of the numbers are made; so every bit of what is
 * selected arrives.
 */

import type { CheckedTopK } from '@concord/backend-core/implement';

const INFINITY = 0x7f80_0000;
const MAGNITUDE = 0x7fff_ffff;

/** Selects the k best of each row, the best first. All memory is seen as words. */
export function topK(call: CheckedTopK, input: Int32Array, values: Int32Array, indices: Int32Array): void {
  const { rows, columns, k, largest } = call;
  const flip = largest ? 0 : -1;
  const heap = new WorstOnTop(k);
  for (let row = 0; row < rows; row++) {
    const first = row * columns;
    for (let place = 0; place < k; place++) {
      heap.set(place, keyOf(input[first + place] as number) ^ flip, place);
    }
    heap.order();
    for (let place = k; place < columns; place++) {
      const key = keyOf(input[first + place] as number) ^ flip;
      if (key > heap.worst) heap.replaceWorst(key, place, k);
    }
    for (let rank = k - 1; rank >= 0; rank--) {
      const place = heap.takeWorst(rank);
      indices[row * k + rank] = place;
      values[row * k + rank] = input[first + place] as number;
    }
  }
}

/** The bits of a number as an integer in the order of the numbers: zeros are equal, NaN is above Infinity. */
function keyOf(bits: number): number {
  const magnitude = bits & MAGNITUDE;
  if (magnitude === 0) return 0;
  return magnitude > INFINITY ? MAGNITUDE : bits ^ ((bits >> 31) & MAGNITUDE);
}

/** A binary heap of elements, of which each is worse than those below it. */
class WorstOnTop {
  /** The key of the worst element. */
  worst = 0;
  readonly #keys: Int32Array;
  readonly #places: Uint32Array;

  constructor(size: number) {
    this.#keys = new Int32Array(size);
    this.#places = new Uint32Array(size);
  }

  /** Puts an element anywhere; {@link order} is wanted before anything else. */
  set(at: number, key: number, place: number): void {
    this.#keys[at] = key;
    this.#places[at] = place;
  }

  order(): void {
    const size = this.#keys.length;
    for (let at = (size >> 1) - 1; at >= 0; at--) {
      this.#sink(at, this.#keys[at] as number, this.#places[at] as number, size);
    }
    this.worst = this.#keys[0] as number;
  }

  /** Puts an element in the place of the worst of the first `size`. */
  replaceWorst(key: number, place: number, size: number): void {
    this.#sink(0, key, place, size);
    this.worst = this.#keys[0] as number;
  }

  /** The place of the worst, which is taken out; `left` remain. */
  takeWorst(left: number): number {
    const place = this.#places[0] as number;
    if (left > 0) this.#sink(0, this.#keys[left] as number, this.#places[left] as number, left);
    return place;
  }

  #sink(from: number, key: number, place: number, size: number): void {
    const keys = this.#keys;
    const places = this.#places;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isWorse(child + 1, keys[child] as number, places[child] as number)) child++;
      if (!this.#isWorse(child, key, place)) break;
      keys[at] = keys[child] as number;
      places[at] = places[child] as number;
      at = child;
    }
    keys[at] = key;
    places[at] = place;
  }

  /** Returns whether the element at a place of the heap is worse than another. */
  #isWorse(at: number, key: number, place: number): boolean {
    const own = this.#keys[at] as number;
    return own < key || (own === key && (this.#places[at] as number) > place);
  }
}
