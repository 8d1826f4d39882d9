import { expect, it } from 'vitest';
import { type Interval, NOT_A_NUMBER, point } from './interval.ts';
import { foldOf, scanOf } from './folds.ts';

const node = { kind: 'scan', level: 'element', operands: [0] } as const;
const plain = { exclusive: false, reverse: false };
const VALUES = [3, -1.5, 2 ** -30, 7, 1e10, -1e10, 0.1].map((value) => point(Math.fround(value)));

it.each(['sum', 'product', 'max', 'min'] as const)('of %s is at each element the fold of as many', (op) => {
  const prefixes = VALUES.map((_, at) => foldOf(op, 'f32', VALUES.slice(0, at + 1)));
  expect(scanOf({ ...node, ...plain, op, type: 'f32' }, VALUES)).toEqual(prefixes);
  const before = VALUES.map((_, at) => foldOf(op, 'f32', VALUES.slice(0, at)));
  expect(scanOf({ ...node, ...plain, op, type: 'f32', exclusive: true }, VALUES)).toEqual(before);
  const behind = VALUES.map((_, at) => foldOf(op, 'f32', VALUES.slice(at).reverse()));
  expect(scanOf({ ...node, ...plain, op, type: 'f32', reverse: true }, VALUES)).toEqual(behind);
});

it('is NaN from the first NaN on, and no difference: what stands before an infinity is finite', () => {
  const values = [point(1), point(Infinity), NOT_A_NUMBER, point(2)];
  const exclusive = scanOf({ ...node, ...plain, op: 'sum', type: 'f32', exclusive: true }, values);
  expect(exclusive).toEqual([point(0), point(1), point(Infinity), NOT_A_NUMBER]);
  const least = scanOf({ ...node, ...plain, op: 'min', type: 'f32', reverse: true }, values);
  expect(least).toEqual([NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, point(2)]);
});

it('of integers wraps, and of what is not known is a range', () => {
  const some: Interval = { lo: 0, hi: 1, nan: false };
  expect(scanOf({ ...node, ...plain, op: 'sum', type: 'u32' }, [point(2 ** 32 - 1), point(2)])).toEqual(
    [2 ** 32 - 1, 1].map(point),
  );
  expect(scanOf({ ...node, ...plain, op: 'sum', type: 'i32' }, [some, point(4)])).toEqual([
    some,
    { lo: 4, hi: 5, nan: false },
  ]);
});
