import { attention, type AttentionSizes } from './attention.ts';
import { conv2d, type Conv2dSizes } from './conv2d.ts';
import { add, unary } from './elementwise.ts';
import { batchedGemm, gemm } from './gemm.ts';
import type { LimitCase } from './limit-case.ts';
import { reduce } from './reduce.ts';

/** The cases that PyTorch is timed with on the same device, in the same order; `quick` takes tiny ones of each op. */
export function limitCases(quick: boolean): LimitCase[] {
  const { squares, products, batches, convolutions, attentions, reductions, elements } = quick ? TINY : FULL;
  return [
    ...squares.flatMap((n) => [gemm(n, n, n), gemm(n, n, n, 'f16')]),
    ...products.map(([m, n, k]) => gemm(m, n, k)),
    ...batches.map(([batch, m, n, k]) => batchedGemm(batch, m, n, k)),
    ...convolutions.map((sizes) => conv2d(sizes)),
    ...attentions.map((sizes) => attention(sizes)),
    ...reductions.flatMap(([shape, axis]) => [reduce('sum', shape, axis), reduce('max', shape, axis)]),
    add(elements),
    unary('exp', elements),
    unary('tanh', elements),
  ];
}

interface Sizes {
  readonly squares: readonly number[];
  readonly products: readonly (readonly [m: number, n: number, k: number])[];
  readonly batches: readonly (readonly [batch: number, m: number, n: number, k: number])[];
  readonly convolutions: readonly Conv2dSizes[];
  readonly attentions: readonly AttentionSizes[];
  readonly reductions: readonly (readonly [shape: readonly number[], axis: number])[];
  readonly elements: number;
}

const FULL: Sizes = {
  squares: [256, 512, 1024, 2048, 4096, 8192],
  products: [
    [1, 4096, 4096],
    [128, 768, 768],
    [128, 3072, 768],
    [4096, 11008, 4096],
    [2048, 2048, 64],
    [37, 1999, 511],
  ],
  batches: [
    [96, 128, 128, 64],
    [64, 512, 512, 64],
    [1024, 32, 32, 32],
  ],
  convolutions: [
    { n: 16, c: 3, hw: 224, k: 64, f: 7, stride: 2, padding: 3 },
    { n: 16, c: 64, hw: 56, k: 64, f: 3, stride: 1, padding: 1 },
    { n: 16, c: 64, hw: 56, k: 256, f: 1, stride: 1, padding: 0 },
    { n: 16, c: 128, hw: 28, k: 128, f: 3, stride: 1, padding: 1 },
    { n: 16, c: 256, hw: 14, k: 256, f: 3, stride: 1, padding: 1 },
    { n: 16, c: 512, hw: 7, k: 512, f: 3, stride: 1, padding: 1 },
    { n: 16, c: 256, hw: 56, k: 512, f: 1, stride: 2, padding: 0 },
  ],
  attentions: [
    { batch: 8, heads: 12, seqQ: 128, seqKv: 128, headDim: 64, causal: false },
    { batch: 4, heads: 12, seqQ: 1024, seqKv: 1024, headDim: 64, causal: true },
    { batch: 2, heads: 16, seqQ: 2048, seqKv: 2048, headDim: 64, causal: false },
    { batch: 1, heads: 32, seqQ: 4096, seqKv: 4096, headDim: 128, causal: true },
  ],
  reductions: [
    [[2 ** 26], 0],
    [[2 ** 13, 2 ** 13], 1],
    [[2 ** 13, 2 ** 13], 0],
    [[64, 256, 56, 56], 1],
    [[2 ** 22, 8], 1],
  ],
  elements: 2 ** 27,
};

const TINY: Sizes = {
  squares: [16],
  products: [[3, 5, 7]],
  batches: [[3, 4, 5, 6]],
  convolutions: [{ n: 2, c: 3, hw: 7, k: 4, f: 3, stride: 2, padding: 1 }],
  attentions: [
    { batch: 2, heads: 2, seqQ: 5, seqKv: 6, headDim: 4, causal: false },
    { batch: 1, heads: 2, seqQ: 5, seqKv: 5, headDim: 4, causal: true },
  ],
  reductions: [
    [[100], 0],
    [[4, 6], 1],
    [[4, 3, 5], 1],
  ],
  elements: 100,
};
