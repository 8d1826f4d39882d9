import type { BenchCase, BenchOp } from '../bench-case.ts';
import { BENCH_OPS, type BenchSize } from '../bench-ops.ts';
import {
  attentionCase,
  batchedGemmCase,
  binaryCase,
  conv2dCase,
  copyCase,
  gemmCase,
  reduceCase,
  topKCase,
  unaryCase,
} from './op-cases.ts';
import { softmaxCase } from './run-case.ts';

/** The cases of a size, and of some ops. */
export function selectBenchCases(size: BenchSize, ops: readonly BenchOp[] = BENCH_OPS): readonly BenchCase[] {
  const cases = size === 'small' ? smallCases() : realCases();
  return cases.filter(({ op }) => ops.includes(op));
}

/** `--size small`: one or two small shapes of every op, to see in seconds that everything runs. */
function smallCases(): BenchCase[] {
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

/**
 * `--size real`: shapes that networks run (ResNet-50 at 224x224, BERT-base, GPT-2 small), and vectors and squares that show
 * the peak of a device. Within an op the smaller ones come first, so that a case that would take too long is known
 * before it begins.
 */
function realCases(): BenchCase[] {
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

/**
 * The calls that stand for their shape classes: those of `concord bench`, and with `real` a walk through the sizes of
 * each op. The smaller ones come first.
 */
export function tuneCases(size: BenchSize, ops: readonly BenchOp[]): readonly BenchCase[] {
  const cases = selectBenchCases(size, ops).filter(({ op }) => op !== 'memory');
  return size === 'small' ? cases : [...cases, ...walk().filter(({ op }) => ops.includes(op))];
}

function walk(): BenchCase[] {
  const squares = [64, 128, 256, 512, 1024, 2048, 4096];
  const [few, many] = [2 ** 20, 2 ** 26];
  return [
    ...squares.map((n) => gemmCase('tune', 'square', n, n, n)),
    ...squares.map((n) => gemmCase('tune', 'square', n, n, n, { transB: 'T' })),
    ...squares.map((n) => gemmCase('tune', 'square', n, n, n, { dtype: 'f16' })),
    ...[16, 32, 64, 256].map((m) => gemmCase('tune', 'few rows', m, 4096, 4096)),
    gemmCase('tune', 'short sums', 2048, 2048, 64),
    gemmCase('tune', 'long sums', 64, 64, 2 ** 16),
    ...[32, 128, 512].map((n) => batchedGemmCase('tune', 'attention scores', 96, { m: n, n, k: 64, transB: 'T' })),
    ...[64, 128, 256].map((channels) => layer(channels, 3584 / channels)),
    ...[128, 512, 2048].map((seq) =>
      attentionCase('tune', 'heads of 64', { ...HEADS, seqQ: seq, seqKv: seq, headDim: 64 }),
    ),
    ...[512, 2048].map((seq) =>
      attentionCase('tune', 'heads of 128', { ...HEADS, seqQ: seq, seqKv: seq, headDim: 128 }),
    ),
    reduceCase('tune', 'sum of all', 'sum', [many], 0),
    reduceCase('tune', 'sums of rows', 'sum', [8192, 8192], 1),
    reduceCase('tune', 'sums of columns', 'sum', [8192, 8192], 0),
    ...[few, many].map((n) => unaryCase('tune', 'exp', 'exp', n)),
    ...[few, many].map((n) => binaryCase('tune', 'add', 'add', n)),
  ];
}

const HEADS = { heads: 16 } as const;

function layer(channels: number, size: number): BenchCase {
  return conv2dCase('tune', '3x3, 16 images', { batch: 16, channels, size, filters: channels, window: 3, padding: 1 });
}
