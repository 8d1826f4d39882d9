import type { NumberType } from '@concord/backend-core/kernel';
import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import type { FoldSource } from '../functions/folds.ts';
import { type PhaseFold, stateLength } from '../schedule/phases.ts';

/** The states of folds: the values of each, one fold after the other. */
export type States<V> = readonly V[];

/** The operations on the states of folds that are computed together. */
export class FoldStates<V, Fold extends Pick<PhaseFold, 'folding'> = PhaseFold> {
  readonly folds: readonly Fold[];
  /** Types of the values. */
  readonly types: readonly NumberType[];

  constructor(folds: readonly Fold[]) {
    this.folds = folds;
    this.types = folds.flatMap(({ folding }) => [...folding.state]);
  }

  /** The states that change nothing. */
  identity(a: Arithmetic<V>): States<V> {
    const bits = this.folds.flatMap(({ folding }) => [...folding.identity]);
    return this.types.map((type, index) => a.constant(type, bits[index] as number));
  }

  /** The values of one fold. */
  part(states: States<V>, index: number): States<V> {
    const before = stateLength(this.folds.slice(0, index));
    return states.slice(before, before + (this.folds[index] as Fold).folding.state.length);
  }

  /** The states of one element of each fold. */
  lift(a: Arithmetic<V>, elementOf: (fold: Fold) => V, source: FoldSource<V>): States<V> {
    return this.folds.flatMap((fold) => [...fold.folding.lift(a, elementOf(fold), source)]);
  }

  /** The states of all that two sets stand for. */
  join(a: Arithmetic<V>, x: States<V>, y: States<V>): States<V> {
    return this.folds.flatMap(({ folding }, index) => [
      ...folding.combine(a, this.part(x, index), this.part(y, index)),
    ]);
  }

  /** Neighbours joined, and what comes of them, until one is left. */
  joinAll(a: Arithmetic<V>, sets: readonly States<V>[]): States<V> {
    let left = sets;
    while (left.length > 1) {
      left = left.flatMap((set, at) => {
        const next = left[at + 1];
        return at % 2 === 1 ? [] : [next === undefined ? set : this.join(a, set, next)];
      });
    }
    return left[0] as States<V>;
  }

  /** `x` where the condition holds, else `y`. */
  select(a: Arithmetic<V>, condition: V, x: States<V>, y: States<V>): States<V> {
    return this.types.map((type, index) => a.select(type, condition, x[index] as V, y[index] as V));
  }

  /** The value of each fold. */
  finish(a: Arithmetic<V>, states: States<V>, source: Pick<FoldSource<V>, 'mean'>): readonly V[] {
    return this.folds.map(({ folding }, index) => folding.finish(a, this.part(states, index), source));
  }
}
