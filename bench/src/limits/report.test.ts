import { expect, it } from 'vitest';
import { casesOf, type LimitCase } from './cases.ts';
import { limitLine } from './report.ts';

const find = (op: string): LimitCase => casesOf('gpu').find((limitCase) => limitCase.op === op) as LimitCase;

it('tells products in TFLOP/s and what only moves memory in TB/s', () => {
  expect(limitLine(find('gemm'), 0.1)).toEqual({ op: 'gemm', case: '256', ms: 0.1, tflops: 0.336 });
  expect(limitLine(find('binary_add'), 0.5)).toEqual({ op: 'binary_add', case: '134217728', ms: 0.5, tbps: 3.221 });
});
