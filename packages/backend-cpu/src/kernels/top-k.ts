import type { CheckedTopK } from '@concord/backend-core/implement';

const INFINITY = 0x7f80_0000;
const MAGNITUDE = 0x7fff_ffff;

/**
 * Selects the k best of each row, the best first. All memory is seen as words, so that every bit of what is selected arrives.
 *
 * One pass over a row keeps the k best so far in order: most elements cost one comparison with the worst of them.
 */
export function topK(call: CheckedTopK, input: Int32Array, values: Int32Array, indices: Int32Array): void {
  const { rows, columns, k, largest } = call;
  const flip = largest ? 0 : -1;
  const keys = new Int32Array(k);
  for (let row = 0; row < rows; row++) {
    const elements = input.subarray(row * columns, (row + 1) * columns);
    const places = indices.subarray(row * k, (row + 1) * k);
    for (let place = 0, count = 0; place < columns; place++) {
      const key = keyOf(elements[place] as number) ^ flip;
      if (count === k && key <= (keys[k - 1] as number)) continue;
      const at = placeOf(keys, count, key);
      keys.copyWithin(at + 1, at, Math.min(count, k - 1));
      places.copyWithin(at + 1, at, Math.min(count, k - 1));
      keys[at] = key;
      places[at] = place;
      if (count < k) count++;
    }
    for (let rank = 0; rank < k; rank++) values[row * k + rank] = elements[places[rank] as number] as number;
  }
}

/** Returns the place of a key among the first `count`, which fall: behind those that equal it. */
function placeOf(keys: Int32Array, count: number, key: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as number) >= key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The bits of a number as a signed integer in the order of the numbers: zeros are equal, NaN is above Infinity. */
function keyOf(bits: number): number {
  const magnitude = bits & MAGNITUDE;
  if (magnitude === 0) return 0;
  return magnitude > INFINITY ? MAGNITUDE : bits ^ ((bits >> 31) & MAGNITUDE);
}
