/** The seed and the range of a tensor; `reference/resnet.py` makes the same numbers, bit for bit. */
export interface Seeded {
  /** Another one for each tensor. */
  readonly seed: number;
  /** Numbers are spread evenly from -bound to bound. */
  readonly bound: number;
}

/** Numbers that look random: a hash of each index, whose 24 upper bits are a multiple of 2^-23, times the bound. */
export function seededNumbers(length: number, { seed, bound }: Seeded): Float32Array {
  const start = Math.imul(seed, 0x9e3779b9);
  return Float32Array.from({ length }, (_, index) => {
    let bits = (start + index) | 0;
    bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
    bits ^= bits >>> 16;
    return ((bits >>> 8) / 2 ** 23 - 1) * bound;
  });
}
