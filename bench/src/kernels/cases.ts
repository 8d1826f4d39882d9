import type { KernelCase } from './kernel-case.ts';
import {
  addCase,
  batchNormCase,
  biasCase,
  bilinearCase,
  castCase,
  gatherCase,
  maxPoolCase,
  permuteCase,
  transposeCase,
  unaryCase,
} from './map-cases.ts';
import { crossEntropyCase, foldCase, normCase, softmaxCase, softmaxDownCase } from './row-cases.ts';

/** The cases that PyTorch is timed with too, and those that a fold or a function alone was timed with before. */
export function kernelCases(quick: boolean): readonly KernelCase[] {
  return quick ? quickCases() : fullCases();
}

function fullCases(): readonly KernelCase[] {
  const n = 2 ** 27;
  const image = { n: 16, c: 64, hw: 112 };
  return [
    unaryCase('unary_exp', n),
    unaryCase('unary_tanh', n),
    addCase(n, 'f32'),
    ...(['reduce_sum', 'reduce_max'] as const).flatMap((op) => [
      foldCase(op, '67108864 axis 0', 1, 2 ** 26),
      foldCase(op, '8192x8192 axis 1', 8192, 8192),
      foldCase(op, '8192x8192 axis 0', 1, 8192, 8192),
      foldCase(op, '64x256x56x56 axis 1', 64, 256, 56 * 56),
      foldCase(op, '4194304x8 axis 1', 2 ** 22, 8),
    ]),
    ...[
      [8192, 8192],
      [98304, 1024],
      [262144, 128],
      [3000, 32768],
      [2000, 50257],
      [98304, 1023],
      [1, 2 ** 24],
    ].map(([rows, columns]) => softmaxCase(rows as number, columns as number)),
    softmaxDownCase(1024, 98304),
    ...(['layer_norm', 'rms_norm'] as const).flatMap((op) => [
      normCase(op, 8192, 768),
      normCase(op, 65536, 1024),
      normCase(op, 8192, 8192),
    ]),
    transposeCase(8192, 8192),
    permuteCase(8, 1024, 12, 64),
    permuteCase(64, 1024, 16, 64),
    gatherCase(50257, 65536, 768),
    biasCase('bias_gelu', 32768, 3072),
    biasCase('bias_relu_residual', 32768, 3072),
    castCase('f32', n),
    castCase('f16', n),
    addCase(n, 'f16'),
    foldCase('argmax', '4096x50257', 4096, 50257),
    crossEntropyCase(4096, 50257),
    maxPoolCase(image),
    foldCase('global_avg_pool', 'n16c64hw112', 1024, 112 * 112),
    bilinearCase(image),
    batchNormCase(image),
  ];
}

function quickCases(): readonly KernelCase[] {
  const image = { n: 2, c: 3, hw: 12 };
  return [
    unaryCase('unary_exp', 1000),
    unaryCase('unary_tanh', 1003),
    addCase(1000, 'f32'),
    foldCase('reduce_sum', '5000 axis 0', 1, 5000),
    foldCase('reduce_sum', '16x64 axis 1', 16, 64),
    foldCase('reduce_max', '64x16 axis 0', 1, 64, 16),
    foldCase('reduce_sum', '3x8x28 axis 1', 3, 8, 28),
    softmaxCase(5, 64),
    softmaxCase(5, 1023),
    softmaxCase(1, 100_000),
    softmaxDownCase(64, 32),
    normCase('layer_norm', 4, 768),
    normCase('rms_norm', 4, 100),
    transposeCase(96, 80),
    permuteCase(2, 16, 3, 8),
    gatherCase(50, 16, 24),
    biasCase('bias_gelu', 16, 96),
    biasCase('bias_relu_residual', 16, 96),
    castCase('f32', 1000),
    castCase('f16', 1000),
    addCase(1000, 'f16'),
    foldCase('argmax', '4x257', 4, 257),
    crossEntropyCase(4, 257),
    maxPoolCase(image),
    foldCase('global_avg_pool', 'n2c3hw12', 6, 144),
    bilinearCase(image),
    batchNormCase(image),
  ];
}
