import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { Terms } from './terms.ts';

const MULTIPLIERS = [0xd251_1f53, 0xcd9e_8d57] as const;
/** The golden ratio and sqrt(3) - 1, by which the key grows. */
const WEYL = [0x9e37_79b9, 0xbb67_ae85] as const;
const ROUNDS = 10;

/** Four u32. */
type Block<V> = readonly [V, V, V, V];

/**
 * The four words of Philox 4x32-10 with key (seed, 0) and counter (block, stream, 0, 0); all u32.
 *
 * Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011.
 */
export function randomBlock<V>(a: Arithmetic<V>, seed: V, block: V, stream: V): Block<V> {
  const k = new Terms(a);
  const zero = k.u(0);
  let words: Block<V> = [block, stream, zero, zero];
  for (let round = 0; round < ROUNDS; round++) {
    const [x0, x1, x2, x3] = words;
    const key0 = round === 0 ? seed : a.add('u32', seed, k.u(Math.imul(WEYL[0], round)));
    const key1 = k.u(Math.imul(WEYL[1], round));
    const [m0, m1] = [k.u(MULTIPLIERS[0]), k.u(MULTIPLIERS[1])];
    words = [
      a.xor('u32', a.xor('u32', a.mulHigh(x2, m1), x1), key0),
      a.mul('u32', x2, m1),
      a.xor('u32', a.xor('u32', a.mulHigh(x0, m0), x3), key1),
      a.mul('u32', x0, m0),
    ];
  }
  return words;
}

/** Word `index & 3` of block `index >> 2`: 32 random bits, of which four neighbours share a block. */
export function random<V>(a: Arithmetic<V>, seed: V, index: V, stream: V): V {
  const k = new Terms(a);
  const [w0, w1, w2, w3] = randomBlock(a, seed, a.shiftRight('u32', index, k.u(2)), stream);
  const isOdd = a.equal('u32', k.and(index, 1), k.u(1));
  const isUpper = a.equal('u32', k.and(index, 2), k.u(2));
  return k.choose(isUpper, k.choose(isOdd, w3, w2), k.choose(isOdd, w1, w0));
}
