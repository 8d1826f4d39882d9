/** Cuts `total` into pieces of `size`, the last one smaller: their starts and lengths. */
export function* cuts(total: number, size: number): Generator<readonly [start: number, length: number]> {
  for (let start = 0; start < total; start += size) yield [start, Math.min(size, total - start)];
}
