import type { Case } from './work.ts';

/** The cases of the table; `quick` takes tiny sizes, to see in CI that everything still runs. */
export function cases(quick: boolean): Case[] {
  return quick
    ? [gemm(24), conv2d(2, 6, 4), attention(2, 10, 4)]
    : [gemm(512), conv2d(64, 56, 64), attention(8, 256, 64)];
}

function gemm(size: number): Case {
  const work = { op: 'gemm', m: size, n: size, k: size, a: noise(size * size, 1), b: noise(size * size, 2) } as const;
  return { name: `gemm ${size}x${size}x${size}`, flops: 2 * size ** 3, work };
}

function conv2d(channels: number, size: number, filters: number): Case {
  const window = 3;
  const input = noise(channels * size * size, 3);
  const filter = noise(filters * channels * window * window, 4);
  return {
    name: `conv2d ${window}x${window}, n1 c${channels} hw${size} k${filters}, padding 1`,
    flops: 2 * filters * size * size * channels * window * window,
    work: { op: 'conv2d', channels, size, filters, window, padding: 1, input, filter },
  };
}

function attention(heads: number, seq: number, headDim: number): Case {
  const [q, k, v] = [5, 6, 7].map((seed) => noise(heads * seq * headDim, seed)) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  return {
    name: `attention ${heads} heads, ${seq}x${seq}x${headDim}`,
    flops: 4 * heads * seq * seq * headDim,
    work: { op: 'attention', heads, seq, headDim, q, k, v },
  };
}

/** Numbers in [-1, 1) that look random, the same ones on every run: a linear congruential generator. */
function noise(length: number, seed: number): Float32Array {
  let state = seed * 2_654_435_761;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  });
}
