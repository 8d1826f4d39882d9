import type { Kernel, NumberType } from '@concord/backend-core/kernel';
import { type PhaseFold, stateLength } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, spirvType, type Width } from '../arithmetic/spirv-arithmetic.ts';

/** Where folds stand: the values of each fold's state, one fold after the other. */
export type States = readonly Value[];

/** The operations that begin, join and choose the states of some folds. All of one width. */
export class StateCode<Fold extends Pick<PhaseFold, 'folding'> = PhaseFold> {
  readonly #k: FunctionBuilder;
  readonly folds: readonly Fold[];
  /** Types of all values of a set of states. */
  readonly types: readonly NumberType[];

  constructor(k: FunctionBuilder, folds: readonly Fold[]) {
    this.#k = k;
    this.folds = folds;
    this.types = folds.flatMap(({ folding }) => [...folding.state]);
  }

  /** The neutral state of a join. */
  identity(width: Width): States {
    const a = new SpirvArithmetic(this.#k, width);
    return this.folds.flatMap(({ folding }) =>
      folding.identity.map((bits, index) => a.constant(folding.state[index] as NumberType, bits)),
    );
  }

  /** The values of one fold among all. */
  part(states: States, index: number): States {
    const before = stateLength(this.folds.slice(0, index));
    return states.slice(before, before + (this.folds[index] as Fold).folding.state.length);
  }

  join(a: States, b: States, width: Width): States {
    const arithmetic = new SpirvArithmetic(this.#k, width);
    return this.folds.flatMap(({ folding }, index) =>
      folding.combine(arithmetic, this.part(a, index), this.part(b, index)),
    );
  }

  /** `a` where the condition holds, else `b`. */
  select(condition: Value, a: States, b: States): States {
    return a.map((value, index) => this.#k.select(condition, value, b[index] as Value));
  }

  /** All of these in one, as a tree. */
  joinAll(sets: readonly States[], width: Width): States {
    let left = sets;
    while (left.length > 1) {
      const half = Math.ceil(left.length / 2);
      left = left.slice(0, half).map((set, index) => {
        const other = left[index + half];
        return other === undefined ? set : this.join(set, other, width);
      });
    }
    return left[0] as States;
  }

  /** The components of vectors in one. */
  joinComponents(states: States, width: Width): States {
    const k = this.#k;
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
      joined = this.join(lower, upper, half as Width);
      count = half;
    }
    return joined;
  }

  /** A value of a state as a word of memory, or as many as it has components. */
  toWord(value: Value): Value {
    return this.#k.bitcast(value, spirvType(this.#k, 'u32', widthOf(value)));
  }

  /** The value of a word. */
  fromWord(word: Value, type: NumberType): Value {
    return this.#k.bitcast(word, spirvType(this.#k, type, widthOf(word)));
  }
}

const widthOf = ({ type }: Value): Width => (type.kind === 'vector' ? type.count : 1);

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

/** Nodes up to which a graph is small: its code may stand there several times. */
const FEW_NODES = 8;

/** Values that a work-item folds at the same time, with the same aim: as many as hide the time of an addition. */
export function waysOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 4 : 2;
}

/** Vectors of neighbouring rows that a CPU's work-item takes at the same time, where vectors lie along rows. */
export function acrossOf({ nodes }: Pick<Kernel, 'nodes'>): number {
  return nodes.length <= FEW_NODES ? 8 : 2;
}
