import { describe, expect, it } from 'vitest';
import type { Outcome, Peer } from './peer.ts';
import { formatCase, formatSummary, median } from './table.ts';
import type { Case } from './work.ts';

const empty = new Float32Array(0);
const testCase: Case = { name: 'a case', flops: 3e9, work: { op: 'gemm', m: 0, n: 0, k: 0, a: empty, b: empty } };
const outcome = (name: string, seconds: number[], failure?: string): Outcome => {
  const peer: Peer = { name, version: '1', ops: ['gemm'], prepare: () => Promise.reject(new Error('not here')) };
  return { case: testCase, peer, seconds, ...(failure === undefined ? {} : { failure }) };
};

describe('median', () => {
  it('is the middle, or the mean of two', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([7])).toBe(7);
  });
});

describe('formatCase', () => {
  it('sorts by speed, gives ratios to ours and says why a peer did not run', () => {
    const outcomes = [
      outcome('broken', [], 'wrong | result'),
      outcome('slow', [3, 3, 6]),
      outcome('concord', [1, 1, 2]),
    ];
    expect(formatCase(outcomes).split('\n').slice(2)).toEqual([
      '|  | GFLOP/s, median | spread | concord is |',
      '|---|---|---|---|',
      '| concord (1) | 3.00 | 1.50 to 3.00 | 1.00x |',
      '| slow (1) | 1.00 | 0.50 to 1.00 | 3.00x |',
      '| broken (1) | not run | wrong \\| result |  |',
    ]);
  });
});

describe('formatSummary', () => {
  it('has a row for each case and a ratio for each peer', () => {
    const outcomes = [outcome('slow', [3]), outcome('concord', [1, 2, 3]), outcome('broken', [], 'no device')];
    expect(formatSummary(outcomes).split('\n')).toEqual([
      '|  | concord | against slow | against broken |',
      '|---|---|---|---|',
      '| a case | 1.5 GFLOP/s | 1.50x | not run |',
    ]);
  });
});
