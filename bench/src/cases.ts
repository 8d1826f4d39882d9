import { noise } from './noise.ts';
import type { Case } from './work.ts';

/** The cases of the CPU table; `quick` takes tiny sizes, to see in CI that everything still runs. */
export function cpuCases(quick: boolean): Case[] {
  return quick
    ? [gemm(24), conv2d(2, 6, 4), attention(2, 10, 4)]
    : [gemm(512), conv2d(64, 56, 64), attention(8, 256, 64)];
}

/** The cases of the WebGPU table. */
export function webgpuCases(quick: boolean): Case[] {
  return quick
    ? [...cpuCases(true), add(1000), sum(1000)]
    : [gemm(512), gemm(256), gemm(1024), conv2d(64, 56, 64), attention(8, 256, 64), add(2 ** 22), sum(2 ** 22)];
}

/** The cases of the Level Zero table. */
export function levelZeroCases(quick: boolean): Case[] {
  return quick
    ? [...webgpuCases(true), relu(1000), sumRows(7, 33)]
    : [
        ...[gemm(512), gemm(1024), gemm(256), gemm(2048), conv2d(64, 56, 64), attention(8, 256, 64)],
        ...[add(2 ** 24), relu(2 ** 24), sumRows(4096, 4096), sumRows(2 ** 18, 64), sum(2 ** 24)],
      ];
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

function add(n: number): Case {
  return { name: `add of ${n}`, bytes: 12 * n, work: { op: 'add', n, a: noise(n, 8), b: noise(n, 9) } };
}

function sum(n: number): Case {
  return { name: `sum of ${n}`, bytes: 4 * n, work: { op: 'sum', n, x: noise(n, 10) } };
}

function relu(n: number): Case {
  return { name: `relu of ${n}`, bytes: 8 * n, work: { op: 'relu', n, x: noise(n, 11) } };
}

function sumRows(rows: number, columns: number): Case {
  const work = { op: 'sumRows', rows, columns, x: noise(rows * columns, 12) } as const;
  return { name: `sums of ${rows} rows of ${columns}`, bytes: 4 * rows * (columns + 1), work };
}
