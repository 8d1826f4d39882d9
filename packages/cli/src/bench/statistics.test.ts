import { expect, test } from 'vitest';
import { formatCallTime, formatRatio, formatSpeed } from '../output/format.ts';
import { matchingOps } from './bench-ops.ts';
import { median, spreadOf } from './bench-run.ts';

test.each([
  [[7], { median: 7, low: 7, high: 7 }],
  [[3, 1, 2], { median: 2, low: 1.2, high: 2.8 }],
  [[4, 2, 3, 1], { median: 2.5, low: 1.3, high: 3.7 }],
  [Array.from({ length: 101 }, (_, i) => 100 - i), { median: 50, low: 10, high: 90 }],
])('the percentiles of %j', (values, { median: middle, low, high }) => {
  const spread = spreadOf(values);
  expect(spread.median).toBeCloseTo(middle);
  expect(median(values)).toBe(spread.median);
  expect(spread.low).toBeCloseTo(low);
  expect(spread.high).toBeCloseTo(high);
});

test.each([
  [0, '0'],
  [0.051234, '0.0512'],
  [5.1234, '5.12'],
  [51.234, '51.2'],
  [99.94, '99.9'],
  [99.96, '100'],
  [51234.5, '51,235'],
])('the speed %d is %s', (value, text) => expect(formatSpeed(value)).toBe(text));

test.each([
  [0.04251, '0.043x'],
  [4.251, '4.3x'],
  [9.96, '10x'],
  [1234.5, '1,235x'],
])('the ratio %d is %s', (value, text) => expect(formatRatio(value)).toBe(text));

test.each([
  [0.3512, '0.351 ms'],
  [12.34, '12.3 ms'],
  [2500, '2.5 s'],
])('%d ms are %s', (value, text) => expect(formatCallTime(value)).toBe(text));

test.each([
  ['gemm', ['gemm']],
  ['gemm*', ['gemm', 'gemmF16']],
  ['?nary, mem*', ['unary', 'memory']],
  ['*', expect.arrayContaining(['gemm', 'memory'])],
  ['gemv', []],
  ['(', []],
])('%s names %j', (globs, ops) => expect(matchingOps(globs)).toEqual(ops));
