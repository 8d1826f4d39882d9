import type { BenchCase, BenchOp } from '../bench/bench-case.ts';
import { attentionCase } from '../bench/cases/attention.ts';
import { conv2dCase } from '../bench/cases/conv2d.ts';
import { binaryCase, reduceCase, unaryCase } from '../bench/cases/elementwise.ts';
import { batchedGemmCase, gemmCase } from '../bench/cases/gemm.ts';
import type { BenchSize } from '../bench/bench-ops.ts';
import { selectBenchCases } from '../bench/select-cases.ts';

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
