import type { Kernel, NumberType } from '@concord/backend-core/kernel';
import type { FoldStates, States as StatesOf } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, spirvType, type Width, widthOf } from '../arithmetic/spirv-arithmetic.ts';

/** The states of folds: the values of each, one fold after the other. */
export type States = StatesOf<Value>;
/** Folds, wherever they are in a kernel. */
export type Folds = Pick<FoldStates<Value>, 'types' | 'identity' | 'join'>;

/** The components of vectors in one. */
export function joinComponents(k: FunctionBuilder, folds: Folds, states: States, width: Width): States {
  let [joined, count] = [states, width as number];
  while (count > 1) {
    const half = count / 2;
    const pick = (value: Value, from: number): Value => {
      if (half === 1) return k.extract(value, from);
      return k.shuffle(
        value,
        value,
        Array.from({ length: half }, (_, lane) => from + lane),
      );
    };
    const [lower, upper] = [joined.map((value) => pick(value, 0)), joined.map((value) => pick(value, half))];
    joined = folds.join(new SpirvArithmetic(k, half as Width), lower, upper);
    count = half;
  }
  return joined;
}

/** A value of a state as a word of memory, or as many as it has components. */
export function toWord(k: FunctionBuilder, value: Value): Value {
  return k.bitcast(value, spirvType(k, 'u32', widthOf(value)));
}

/** The value of a word. */
export function fromWord(k: FunctionBuilder, word: Value, type: NumberType): Value {
  return k.bitcast(word, spirvType(k, type, widthOf(word)));
}

/** Places that are folded in turn into several sets of states. */
export interface UnrolledRange {
  readonly from: Value;
  /** The end of the places from which there is one for each set. */
  readonly whole: Value;
  readonly to: Value;
  /** The step from one place to the next. */
  readonly step: Value | number;
  readonly unroll: number;
}

/**
 * Folds places into several sets of states, one after the other in `begin`, so that additions do not wait for each other; what
 * is left after `whole` goes into the first.
 *
 * @param take - joins what is at a place to a set of states
 */
export function foldUnrolled(
  k: FunctionBuilder,
  { from, whole, to, step, unroll }: UnrolledRange,
  begin: States,
  take: (states: States, place: Value) => States,
): States {
  const count = begin.length / unroll;
  const steps = (times: number): Value | number => (typeof step === 'number' ? times * step : k.mul(step, times));
  const many = k.forLoop({ from, to: whole, step: steps(unroll) }, begin, (place, carried) =>
    Array.from({ length: unroll }, (_, set) =>
      take(carried.slice(set * count, (set + 1) * count), set === 0 ? place : k.add(place, steps(set))),
    ).flat(),
  );
  if (unroll === 1) return many;
  const first = k.forLoop({ from: whole, to, step }, many.slice(0, count), (place, carried) => [
    ...take(carried, place),
  ]);
  return [...first, ...many.slice(count)];
}

/** The sets of states that follow each other. */
export function setsOf(all: States, unroll: number): readonly States[] {
  const count = all.length / unroll;
  return Array.from({ length: unroll }, (_, set) => all.slice(set * count, (set + 1) * count));
}

/** Nodes up to which a graph is small: its code may stand there several times. */
const FEW_NODES = 8;

/** Values that a work-item folds at the same time, with the same aim: as many as hide the time of an addition. */
export function unrollOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 4 : 2;
}

/** Vectors of neighbouring rows that a CPU's work-item takes at the same time, where vectors lie along rows. */
export function acrossOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 8 : 2;
}
