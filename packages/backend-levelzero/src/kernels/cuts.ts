/**
 * Cuts `total` into pieces of `size`, the last one smaller: their starts and lengths. Where more than one piece is wanted none is
 * shorter than `least`, which is at most half of `size`.
 */
export function* cuts(total: number, size: number, least = 1): Generator<readonly [start: number, length: number]> {
  for (let start = 0; start < total;) {
    const left = total - start;
    const length = left > size && left < size + least ? left - least : Math.min(size, left);
    yield [start, length];
    start += length;
  }
}
