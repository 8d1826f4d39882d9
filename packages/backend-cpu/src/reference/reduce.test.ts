import { REDUCE_OPS, type ReduceOp } from '@concord/backend-core';
import { describe, expect, it } from 'vitest';
import { reduceReference } from './reduce.ts';

const reduce = (op: ReduceOp, shape: number[], axis: number, input: number[]) => [
  ...reduceReference({ op, shape, axis }, input).value,
];

// 1..24 as 2x3x4, by hand.
describe('reduceReference of a ramp', () => {
  const ramp = Array.from({ length: 24 }, (_, i) => i + 1);
  const shape = [2, 3, 4];

  it('along the first axis: x and x + 12', () => {
    expect(reduce('sum', shape, 0, ramp)).toEqual([14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36]);
    expect(reduce('mean', shape, 0, ramp)).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]);
    expect(reduce('max', shape, 0, ramp)).toEqual([13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
    expect(reduce('min', shape, 0, ramp)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  it('along the middle axis: x, x + 4, x + 8', () => {
    expect(reduce('sum', shape, 1, ramp)).toEqual([15, 18, 21, 24, 51, 54, 57, 60]);
    expect(reduce('mean', shape, 1, ramp)).toEqual([5, 6, 7, 8, 17, 18, 19, 20]);
    expect(reduce('max', shape, 1, ramp)).toEqual([9, 10, 11, 12, 21, 22, 23, 24]);
    expect(reduce('min', shape, 1, ramp)).toEqual([1, 2, 3, 4, 13, 14, 15, 16]);
  });

  it('along the last axis: four in a row', () => {
    expect(reduce('sum', shape, 2, ramp)).toEqual([10, 26, 42, 58, 74, 90]);
    expect(reduce('mean', shape, 2, ramp)).toEqual([2.5, 6.5, 10.5, 14.5, 18.5, 22.5]);
    expect(reduce('max', shape, 2, ramp)).toEqual([4, 8, 12, 16, 20, 24]);
    expect(reduce('min', shape, 2, ramp)).toEqual([1, 5, 9, 13, 17, 21]);
  });

  it('upside down and below zero', () => {
    expect(reduce('max', [3], 0, [-3, -1, -2])).toEqual([-1]);
    expect(reduce('min', [3], 0, [3, 1, 2])).toEqual([1]);
  });
});

describe('reduceReference: special values', () => {
  it('an empty axis', () => {
    const empty = (op: ReduceOp) => reduce(op, [2, 0], 1, []);
    expect(empty('sum')).toEqual([0, 0]);
    expect(empty('max')).toEqual([-Infinity, -Infinity]);
    expect(empty('min')).toEqual([Infinity, Infinity]);
    expect(empty('mean')).toEqual([Number.NaN, Number.NaN]);
  });

  it.each(REDUCE_OPS)('%s of something with NaN in it is NaN, wherever it stands', (op) => {
    for (const at of [0, 1, 2]) {
      const input = [1, Infinity, 3].map((x, i) => (i === at ? Number.NaN : x));
      expect(reduce(op, [3], 0, input)).toEqual([Number.NaN]);
    }
    expect(reduce(op, [2, 1], 1, [Number.NaN, 5])).toEqual([Number.NaN, 5]);
  });

  it('infinities', () => {
    expect(reduce('sum', [2], 0, [Infinity, -Infinity])).toEqual([Number.NaN]);
    expect(reduce('mean', [2], 0, [Infinity, 1])).toEqual([Infinity]);
    expect(reduce('max', [2], 0, [-Infinity, -Infinity])).toEqual([-Infinity]);
  });

  it('magnitude is sum |x|, for mean divided by the length', () => {
    const magnitude = (op: ReduceOp) => [...reduceReference({ op, shape: [4], axis: 0 }, [1, -2, 3, -4]).magnitude];
    expect(magnitude('sum')).toEqual([10]);
    expect(magnitude('mean')).toEqual([2.5]);
  });
});
