import type { DType } from '@concord/backend-core';
import type { Tensor } from '../../src/index.ts';
import type { Model } from '../support/model.ts';
import { indicesOf } from '../support/model.ts';

/** Draws what a step needs: from 0 to below `below`. */
export type Pick = (below: number) => number;

/** An operand of a step: what it holds, as what. */
export interface Operand {
  readonly model: Model;
  readonly dtype: DType;
  /** True if a replay is to find other numbers in it. */
  readonly changes: boolean;
  /** The result of an earlier step, as it lies. */
  readonly tensor?: Tensor;
}

/** One call of a function of `@concord/ops`, and by plain loops in float64 what must come out. */
export interface Step {
  readonly shown: string;
  readonly operands: readonly Operand[];
  readonly dtype?: DType;
  readonly run: (operands: readonly Tensor[], out: Tensor | undefined) => Tensor;
  readonly want: (models: readonly Model[]) => Model;
  /** Largest difference, relative to the largest number. Default 0: sums and products of small integers are exact. */
  readonly tolerance?: number;
  /** True if the function takes no `out`, or only a dense one. */
  readonly hasNoOut?: boolean;
}

/** Small integers, some of them equal. */
export function integers(pick: Pick, shape: readonly number[], least = -3, count = 7): Operand {
  return { model: { shape, values: indicesOf(shape).map(() => least + pick(count)) }, dtype: 'f32', changes: true };
}

/** Indices from `least` to below `end`. */
export function indices(pick: Pick, shape: readonly number[], least: number, end: number): Operand {
  return { ...integers(pick, shape, least, Math.max(1, end - least)), dtype: 'i32', changes: false };
}

/** The model of a shape whose elements come from a function of the index. */
export function computed(shape: readonly number[], each: (index: readonly number[]) => number): Model {
  return { shape, values: indicesOf(shape).map(each) };
}

/** Sizes from 1 to 3. */
export function sizes(pick: Pick, rank: number): number[] {
  return Array.from({ length: rank }, () => 1 + pick(3));
}

/** A shape that broadcasts to another one: some axes of size 1, the first ones perhaps missing. */
export function broadcastable(pick: Pick, shape: readonly number[]): number[] {
  return shape.map((length) => (pick(3) === 0 ? 1 : length)).slice(pick(shape.length + 1));
}

/** One of a list. */
export function oneOf<T>(pick: Pick, list: readonly T[]): T {
  return list[pick(list.length)] as T;
}

/** A list with another entry at a place; negative ones count from the end. */
export function put(list: readonly number[], place: number, value: number): number[] {
  const own = place < 0 ? place + list.length : place;
  return list.map((each, index) => (index === own ? value : each));
}

/** A list with some entries instead of others. */
export function spliced(
  list: readonly number[],
  start: number,
  count: number,
  ...entries: readonly number[]
): number[] {
  return [...list.slice(0, start), ...entries, ...list.slice(start + count)];
}
