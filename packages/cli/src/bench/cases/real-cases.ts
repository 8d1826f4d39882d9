import type { BenchCase } from '../bench-case.ts';
import { attentionCase } from './attention.ts';
import { conv2dCase } from './conv2d.ts';
import { binaryCase, reduceCase, unaryCase } from './elementwise.ts';
import { batchedGemmCase, gemmCase } from './gemm.ts';
import { softmaxCase, topKCase } from './kernels.ts';
import { copyCase } from './memory.ts';

/**
 * `--size real`: shapes that networks run (ResNet-50 at 224x224, BERT-base, GPT-2 small), and vectors and squares that show
 * the peak of a device. Within an op the smaller ones come first, so that a case that would take too long is known
 * before it begins.
 */
export function realCases(): BenchCase[] {
  return [...products(), ...resnet(), ...attentions(), ...elements(), ...rows(), ...copies()];
}

function products(): BenchCase[] {
  return [
    gemmCase('resnet-50', 'ResNet-50 classifier', 1, 1000, 2048, { transB: 'T' }),
    gemmCase('gpt-2', 'GPT-2 decode, attention output', 1, 768, 768),
    gemmCase('decode', 'decode, width 4096', 1, 4096, 4096),
    gemmCase('gpt-2', 'GPT-2 decode, vocabulary', 1, 50_257, 768, { transB: 'T' }),
    gemmCase('bert-base', 'BERT-base projection', 128, 768, 768),
    gemmCase('bert-base', 'BERT-base feed-forward in', 128, 3072, 768),
    gemmCase('bert-base', 'BERT-base feed-forward out', 128, 768, 3072),
    gemmCase('square', 'square', 1024, 1024, 1024),
    gemmCase('gpt-2', 'GPT-2 prompt, Q K V', 1024, 2304, 768),
    gemmCase('gpt-2', 'GPT-2 prompt, feed-forward in', 1024, 3072, 768),
    gemmCase('square', 'square', 4096, 4096, 4096),
    batchedGemmCase('bert-base', 'BERT-base scores, 128 tokens', 12, { m: 128, n: 128, k: 64, transB: 'T' }),
    batchedGemmCase('bert-base', 'BERT-base scores, 512 tokens', 12, { m: 512, n: 512, k: 64, transB: 'T' }),
    gemmCase('bert-base', 'BERT-base feed-forward in', 128, 3072, 768, { dtype: 'f16' }),
    gemmCase('square', 'square', 1024, 1024, 1024, { dtype: 'f16' }),
  ];
}

function resnet(): BenchCase[] {
  const layer = (text: string, sizes: Parameters<typeof conv2dCase>[2]): BenchCase =>
    conv2dCase('resnet-50', `ResNet-50 ${text}`, sizes);
  return [
    layer('stage 2, 1x1 wider', { channels: 64, size: 56, filters: 256, window: 1 }),
    layer('stage 5, 1x1 wider', { channels: 512, size: 7, filters: 2048, window: 1 }),
    layer('stage 3, 1x1 stride 2', { channels: 256, size: 56, filters: 512, window: 1, stride: 2 }),
    layer('stem, 7x7 stride 2', { channels: 3, size: 224, filters: 64, window: 7, stride: 2, padding: 3 }),
    layer('stage 2, 3x3', { channels: 64, size: 56, filters: 64, window: 3, padding: 1 }),
    layer('stage 3, 3x3', { channels: 128, size: 28, filters: 128, window: 3, padding: 1 }),
    layer('stage 4, 3x3', { channels: 256, size: 14, filters: 256, window: 3, padding: 1 }),
    layer('stage 5, 3x3', { channels: 512, size: 7, filters: 512, window: 3, padding: 1 }),
    layer('stage 3, 3x3, 8 images', { batch: 8, channels: 128, size: 28, filters: 128, window: 3, padding: 1 }),
  ];
}

function attentions(): BenchCase[] {
  const heads = { heads: 12, headDim: 64 };
  return [
    attentionCase('gpt-2', 'GPT-2 decode, 1024 tokens', { ...heads, seqQ: 1, seqKv: 1024 }),
    attentionCase('bert-base', 'BERT-base, 128 tokens', { ...heads, seqQ: 128, seqKv: 128 }),
    attentionCase('bert-base', 'BERT-base, 512 tokens', { ...heads, seqQ: 512, seqKv: 512 }),
    attentionCase('gpt-2', 'GPT-2 prompt, 1024 tokens', { ...heads, seqQ: 1024, seqKv: 1024, causal: true }),
  ];
}

function elements(): BenchCase[] {
  const [large, most] = [2 ** 22, 2 ** 24];
  return [
    reduceCase('bert-base', 'mean of 128 rows of 768', 'mean', [128, 768], 1),
    reduceCase('elements', 'maximum of 2048 rows of 2048', 'max', [2048, 2048], 1),
    reduceCase('elements', 'sum of 2048 columns of 2048', 'sum', [2048, 2048], 0),
    reduceCase('elements', 'sum of 16M', 'sum', [most], 0),
    unaryCase('bert-base', 'gelu of 128x3072', 'gelu', 128 * 3072),
    unaryCase('elements', 'gelu of 4M', 'gelu', large),
    unaryCase('elements', 'exp of 4M', 'exp', large),
    unaryCase('elements', 'relu of 16M', 'relu', most),
    binaryCase('elements', 'add, 4M', 'add', large),
    binaryCase('elements', 'add, 16M', 'add', most),
  ];
}

function rows(): BenchCase[] {
  return [
    softmaxCase('bert-base', 'BERT-base scores, 128 tokens', 12 * 128, 128),
    softmaxCase('gpt-2', 'GPT-2 vocabulary, one token', 1, 50_257),
    softmaxCase('elements', 'softmax of 4096 rows of 4096', 4096, 4096),
    topKCase('gpt-2', 'GPT-2 sampling, best 40', 8, 50_257, 40),
  ];
}

function copies(): BenchCase[] {
  return [
    copyCase('upload', 2 ** 24),
    copyCase('download', 2 ** 24),
    copyCase('device', 2 ** 24),
    copyCase('device', 2 ** 26),
  ];
}
