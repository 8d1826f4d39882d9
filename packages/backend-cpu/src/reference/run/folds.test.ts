import { expect, it } from 'vitest';
import { type Interval, point } from './interval.ts';
import { placeOfGreatest } from './folds.ts';

const from = (lo: number, hi: number, nan = false): Interval => ({ lo, hi, nan });
const places = (values: Interval[]): readonly number[] => {
  const { lo, choices } = placeOfGreatest(values);
  return choices ?? [lo];
};

it('is the first of equals', () => {
  expect(places([1, 3, 2, 3].map(point))).toEqual([1]);
  expect(places([2, 2].map(point))).toEqual([0]);
  expect(places([-Infinity, -Infinity].map(point))).toEqual([0]);
});

it('is each whose greatest value reaches the largest least one', () => {
  expect(places([from(0, 1), from(5, 7), from(0, 5.5), from(6, 8), from(0, 4)])).toEqual([1, 3]);
  // An equal one after is not the first; an equal one before is.
  expect(places([from(1, 5), point(5)])).toEqual([0, 1]);
  expect(places([point(5), from(1, 5)])).toEqual([0]);
});

it('is the first NaN', () => {
  expect(places([1, Number.NaN, Infinity, Number.NaN].map(point))).toEqual([1]);
  expect(places([point(3), from(0, 1, true), point(2), point(Number.NaN)])).toEqual([1, 3]);
  expect(places([from(0, 1, true), point(2), from(0, 1, true)])).toEqual([0, 1, 2]);
});

it('of none is 0', () => {
  expect(placeOfGreatest([])).toEqual(point(0));
});
