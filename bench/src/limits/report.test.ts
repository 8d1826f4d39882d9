import { expect, it } from 'vitest';
import { limitCases, type LimitCase } from './cases.ts';
import { compareLines, limitLine } from './report.ts';

const find = (op: string): LimitCase => limitCases(false).find((limitCase) => limitCase.op === op) as LimitCase;

it('tells products in TFLOP/s and what only moves memory in TB/s', () => {
  expect(limitLine(find('gemm'), 0.1)).toEqual({ op: 'gemm', case: '256', ms: 0.1, tflops: 0.336 });
  expect(limitLine(find('binary_add'), 0.5)).toEqual({ op: 'binary_add', case: '134217728', ms: 0.5, tbps: 3.221 });
});

it('compares the cases that both sides have times for', () => {
  const theirs = [
    { op: 'gemm', case: '256', ms: 0.05, tflops: 0.671 },
    { op: 'gemm', case: '512', ms: 0.1, tflops: 2.7 },
    { op: 'binary_add', case: '134217728', failed: 'out of memory' },
  ];
  const ours = [limitLine(find('gemm'), 0.1), limitLine(find('binary_add'), 0.5)];
  expect(compareLines(ours, theirs).split('\n').slice(2)).toEqual(['| gemm | 256 | TFLOP/s | 0.34 | 0.67 | 0.50x |']);
});
