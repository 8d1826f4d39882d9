import { batchNorm, bilinear, imageName, maxPool } from './image-cases.ts';
import type { KernelCase } from './kernel-case.ts';
import { add, biasGelu, biasReluResidual, cast, gather, permute, transpose, unary } from './map-cases.ts';
import { crossEntropy, fold, norm, softmax } from './row-cases.ts';

/** The cases that PyTorch is timed with too, and those that a fold or a function alone was timed with before. */
export function kernelCases(quick: boolean): readonly KernelCase[] {
  const n = quick ? 1000 : 2 ** 27;
  const image = quick ? { n: 2, c: 3, hw: 12 } : { n: 16, c: 64, hw: 112 };
  const [channels, pixels] = [image.n * image.c, image.hw ** 2];
  const [vocabulary, texts] = quick ? [257, 4] : [50257, 4096];
  return [
    unary('unary_exp', n),
    unary('unary_tanh', quick ? 1003 : n),
    add(n, 'f32'),
    ...(['reduce_sum', 'reduce_max'] as const).flatMap((op) => folds(op, quick)),
    ...(quick ? QUICK_ROWS : ROWS).map(([rows, columns]) => softmax(rows, columns)),
    quick ? softmax(64, 32, true) : softmax(1024, 98304, true),
    ...(['layer_norm', 'rms_norm'] as const).flatMap((op) =>
      (quick ? QUICK_NORMS : NORMS).map(([rows, columns]) => norm(op, rows, columns)),
    ),
    quick ? transpose(96, 80) : transpose(8192, 8192),
    ...(quick ? [permute(2, 16, 3, 8)] : [permute(8, 1024, 12, 64), permute(64, 1024, 16, 64)]),
    quick ? gather(50, 16, 24) : gather(vocabulary, 65536, 768),
    ...[biasGelu, biasReluResidual].map((bias) => (quick ? bias(16, 96) : bias(32768, 3072))),
    cast('f32', n),
    cast('f16', n),
    add(n, 'f16'),
    fold('argmax', `${texts}x${vocabulary}`, texts, vocabulary),
    crossEntropy(texts, vocabulary),
    maxPool(image),
    fold('global_avg_pool', imageName(image), channels, pixels),
    bilinear(image),
    batchNorm(image),
  ];
}

type Matrices = readonly (readonly [rows: number, columns: number])[];

const ROWS: Matrices = [
  [8192, 8192],
  [98304, 1024],
  [262144, 128],
  [3000, 32768],
  [2000, 50257],
  [98304, 1023],
  [1, 2 ** 24],
];
const QUICK_ROWS: Matrices = [
  [5, 64],
  [5, 1023],
  [1, 100_000],
];
const NORMS: Matrices = [
  [8192, 768],
  [65536, 1024],
  [8192, 8192],
];
const QUICK_NORMS: Matrices = [
  [4, 768],
  [4, 100],
];

function folds(op: 'reduce_sum' | 'reduce_max', quick: boolean): KernelCase[] {
  if (quick) {
    return [
      fold(op, '5000 axis 0', 1, 5000),
      fold(op, '16x64 axis 1', 16, 64),
      fold(op, '64x16 axis 0', 1, 64, 16),
      fold(op, '3x8x28 axis 1', 3, 8, 28),
    ];
  }
  return [
    fold(op, '67108864 axis 0', 1, 2 ** 26),
    fold(op, '8192x8192 axis 1', 8192, 8192),
    fold(op, '8192x8192 axis 0', 1, 8192, 8192),
    fold(op, '64x256x56x56 axis 1', 64, 256, 56 * 56),
    fold(op, '4194304x8 axis 1', 2 ** 22, 8),
  ];
}
