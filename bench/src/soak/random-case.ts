import { BINARY_OPS, REDUCE_OPS, UNARY_OPS } from '@concord/backend-core';
import {
  attentionCase,
  batchedGemmCase,
  type BenchCase,
  binaryCase,
  conv2dCase,
  gemmCase,
  reduceCase,
  softmaxCase,
  topKCase,
  unaryCase,
} from '@concord/cli/bench';

/** Random numbers in [0, 1) from a seed: mulberry32, by Tommy Ettinger, in the public domain. */
export function random(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A case of any of the ops, with modest sizes and the options that choose other kernels. */
export function randomCase(next: () => number): BenchCase {
  const integer = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  const pick = <T>(items: readonly T[]): T => items[integer(0, items.length - 1)] as T;
  const transpose = (): 'T' | undefined => pick(['T', undefined]);
  const product = (dtype: 'f32' | 'f16'): BenchCase => {
    const [m, n, k, padding] = [integer(1, 96), integer(1, 96), integer(1, 96), pick([0, 0, 3])];
    return gemmCase('', '', m, n, k, { transA: transpose(), transB: transpose(), padding, dtype });
  };
  const makers: readonly (() => BenchCase)[] = [
    () => product('f32'),
    () => product('f16'),
    () => {
      const sizes = { m: integer(1, 48), n: integer(1, 48), k: integer(1, 48), transB: transpose() };
      return batchedGemmCase('', '', integer(1, 6), sizes);
    },
    () => {
      const [batch, channels, filters, size] = [integer(1, 2), integer(1, 16), integer(1, 16), integer(5, 24)];
      const [window, stride, padding] = [pick([1, 3, 5]), pick([1, 2]), integer(0, 2)];
      return conv2dCase('', '', { batch, channels, filters, size, window, stride, padding });
    },
    () => {
      const [batch, heads, headDim] = [integer(1, 2), integer(1, 4), pick([8, 16, 32, 64])];
      const [causal, seqQ, seqKv] = [pick([true, false]), integer(1, 48), integer(1, 48)];
      return attentionCase('', '', { batch, heads, headDim, seqQ, seqKv: causal ? seqQ : seqKv, causal });
    },
    () => topKCase('', '', integer(1, 64), integer(16, 256), integer(1, 16)),
    () => softmaxCase('', '', integer(1, 64), integer(1, 512), pick([true, false])),
    () => reduceCase('', '', pick(REDUCE_OPS), [integer(1, 12), integer(1, 64), integer(1, 64)], integer(0, 2)),
    () => unaryCase('', '', pick(UNARY_OPS), integer(1, 20_000)),
    () => binaryCase('', '', pick(BINARY_OPS), integer(1, 20_000)),
  ];
  return pick(makers)();
}
