import type { BenchCase } from '../bench-case.ts';
import { attentionCase } from './attention.ts';
import { conv2dCase } from './conv2d.ts';
import { binaryCase, reduceCase, unaryCase } from './elementwise.ts';
import { batchedGemmCase, gemmCase } from './gemm.ts';
import { softmaxCase, topKCase } from './kernels.ts';
import { copyCase } from './memory.ts';

/** `--size small`: one or two small shapes of every op, to see in seconds that everything runs. */
export function smallCases(): BenchCase[] {
  const [n, mebibyte] = [2 ** 16, 2 ** 20];
  return [
    gemmCase('square', 'square', 64, 64, 64),
    gemmCase('square', 'square', 128, 128, 128),
    gemmCase('vector', 'vector times matrix', 1, 512, 512),
    batchedGemmCase('scores', 'attention scores', 4, { m: 32, n: 32, k: 32, transB: 'T' }),
    gemmCase('square', 'square, float16', 64, 64, 64, { dtype: 'f16' }),
    conv2dCase('layer', '3x3', { channels: 16, size: 14, filters: 16, window: 3, padding: 1 }),
    conv2dCase('layer', '1x1', { channels: 32, size: 14, filters: 32, window: 1 }),
    attentionCase('heads', 'all keys', { heads: 2, seqQ: 64, seqKv: 64, headDim: 32 }),
    attentionCase('heads', 'causal', { heads: 2, seqQ: 64, seqKv: 64, headDim: 32, causal: true }),
    reduceCase('all', 'sum of all', 'sum', [n], 0),
    reduceCase('rows', 'maximum of rows', 'max', [256, 256], 1),
    unaryCase('elements', 'relu', 'relu', n),
    unaryCase('elements', 'gelu', 'gelu', n),
    binaryCase('elements', 'add', 'add', n),
    softmaxCase('rows', 'softmax', 256, 256),
    topKCase('rows', 'best 8 of rows', 64, 512, 8),
    copyCase('upload', mebibyte),
    copyCase('download', mebibyte),
    copyCase('device', mebibyte),
  ];
}
