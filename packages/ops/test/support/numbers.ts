/** Numbers from -2 to 2 that look random and are the same in every run. */
export function numbers(length: number, seed = 1): number[] {
  let state = (seed * 2654435761) >>> 0 || 1;
  return Array.from({ length }, () => {
    state ^= (state << 13) >>> 0;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return Math.fround((state / 2 ** 32) * 4 - 2);
  });
}
