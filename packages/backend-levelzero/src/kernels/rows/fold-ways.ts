import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import type { States } from './states.ts';

/** Places that are folded in turn into several sets of states. */
export interface Ways {
  readonly from: Value;
  /** After the last place from which there is one for each set. */
  readonly whole: Value;
  readonly to: Value;
  /** From one place to the next. */
  readonly step: Value | number;
  readonly ways: number;
}

/**
 * Folds places into several sets of states, one after the other in `begin`, so that additions do not wait for each other; what
 * is left after `whole` goes into the first.
 *
 * @param take - joins what is at a place to a set of states
 */
export function foldWays(
  k: FunctionBuilder,
  { from, whole, to, step, ways }: Ways,
  begin: States,
  take: (states: States, place: Value) => States,
): States {
  const count = begin.length / ways;
  const steps = (times: number): Value | number => (typeof step === 'number' ? times * step : k.mul(step, times));
  const many = k.forLoop({ from, to: whole, step: steps(ways) }, begin, (place, carried) =>
    Array.from({ length: ways }, (_, way) =>
      take(carried.slice(way * count, (way + 1) * count), way === 0 ? place : k.add(place, steps(way))),
    ).flat(),
  );
  if (ways === 1) return many;
  const first = k.forLoop({ from: whole, to, step }, many.slice(0, count), (place, carried) => [
    ...take(carried, place),
  ]);
  return [...first, ...many.slice(count)];
}

/** The sets of states that follow each other. */
export function setsOf(all: States, ways: number): readonly States[] {
  const count = all.length / ways;
  return Array.from({ length: ways }, (_, way) => all.slice(way * count, (way + 1) * count));
}
