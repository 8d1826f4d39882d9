import type { FoldOp, NumberType } from '@concord/backend-core/kernel';
import type { Folding } from '@concord/kernel';
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, spirvType, type Width } from '../arithmetic/spirv-arithmetic.ts';

/** One fold of a phase. */
export interface PhaseFold {
  /** The fold's node. */
  readonly node: number;
  /** The folds of a state. */
  readonly operand: number;
  readonly op: FoldOp;
  readonly folding: Folding;
}

/** Where folds stand: the values of each fold's state, one fold after the other. */
export type States = readonly Value[];

/** The operations that begin, join and choose the states of some folds. All of one width. */
export class StateCode {
  readonly #k: FunctionBuilder;
  readonly folds: readonly PhaseFold[];
  /** Types of all values of a set of states. */
  readonly types: readonly NumberType[];

  constructor(k: FunctionBuilder, folds: readonly PhaseFold[]) {
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
    const before = this.folds.slice(0, index).reduce((sum, { folding }) => sum + folding.state.length, 0);
    return states.slice(before, before + (this.folds[index] as PhaseFold).folding.state.length);
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
