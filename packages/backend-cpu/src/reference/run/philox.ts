/** Four u32. */
export type Words = readonly [number, number, number, number];

const MULTIPLIERS = [0xd2511f53n, 0xcd9e8d57n] as const;
const KEY_STEPS = [0x9e3779b9n, 0xbb67ae85n] as const;
const ROUNDS = 10;

/**
 * Philox 4x32-10: four random words of a counter and a key.
 *
 * Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011, section 3.3.
 */
export function philox4x32(counter: Words, key: readonly [number, number]): Words {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < ROUNDS; round++) {
    const first = MULTIPLIERS[0] * c0;
    const second = MULTIPLIERS[1] * c2;
    [c0, c1, c2, c3] = [high(second) ^ c1 ^ k0, low(second), high(first) ^ c3 ^ k1, low(first)];
    k0 = low(k0 + KEY_STEPS[0]);
    k1 = low(k1 + KEY_STEPS[1]);
  }
  return [Number(c0), Number(c1), Number(c2), Number(c3)];
}

function high(product: bigint): bigint {
  return product >> 32n;
}

function low(x: bigint): bigint {
  return x & 0xffff_ffffn;
}

/** The node `random`: word `index & 3` of the block that four neighbours share. */
export function randomWord(seed: number, index: number, stream: number): number {
  return philox4x32([index >>> 2, stream, 0, 0], [seed, 0])[index & 3] as number;
}
