/** Returns whether any of `count` elements from `start` on is infinite or NaN, and must therefore not be multiplied by a filler 0. */
export function hasNonFinite(values: Float32Array, start: number, count: number): boolean {
  for (let i = start; i < start + count; i++) {
    if (!Number.isFinite(values[i])) return true;
  }
  return false;
}
