/** Word `index & 3` of Philox 4x32-10 with key (seed, 0) and counter (index >> 2, stream, 0, 0), from the paper. */
export function philoxWord(seed: number, index: number, stream: number): number {
  return philox([index >>> 2, stream, 0, 0], [seed, 0])[index & 3] as number;
}

/** Philox 4x32-10: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011. */
export function philox(counter: readonly number[], key: readonly number[]): number[] {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  const low = 0xffffffffn;
  for (let round = 0; round < 10; round++) {
    const [p0, p1] = [0xd2511f53n * c0, 0xcd9e8d57n * c2];
    [c0, c1, c2, c3] = [(p1 >> 32n) ^ c1 ^ k0, p1 & low, (p0 >> 32n) ^ c3 ^ k1, p0 & low];
    [k0, k1] = [(k0 + 0x9e3779b9n) & low, (k1 + 0xbb67ae85n) & low];
  }
  return [c0, c1, c2, c3].map(Number);
}
