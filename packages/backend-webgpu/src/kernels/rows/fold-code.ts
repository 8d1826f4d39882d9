import type { Kernel } from '@concord/backend-core/kernel';
import { type Folding, foldsOf, type MeanFactors, type PhaseFold, stateLength } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, widened, wgslType } from '../arithmetic/wgsl-block.ts';
import { components } from '../run/operand-code.ts';
import type { RowsSpec } from './rows-spec.ts';
import type { State } from './team.ts';

/** The factor and the divisor of a mean. */
const MEAN: MeanFactors<WgslValue> = {
  scale: { text: 'u.scale', type: 'f32', width: 1 },
  divisor: { text: 'u.divisor', type: 'f32', width: 1 },
};

/** A fold of a graph in generated code. */
export class OpenFold {
  readonly fold: PhaseFold;
  readonly #folding: Folding;

  constructor(fold: PhaseFold) {
    this.fold = fold;
    this.#folding = fold.folding;
  }

  /** The state that changes nothing. */
  nothing(math: WgslArithmetic): State {
    return this.#folding.state.map((type, part) => math.constant(type, this.#folding.identity[part] as number));
  }

  /** Variables that begin with it. */
  variables(math: WgslArithmetic, width: 1 | 4): State {
    return this.nothing(math).map((part) => {
      const name = math.block.fresh();
      math.block.add(`var ${name} = ${widened(part, width)};`);
      return { text: name, type: part.type, width };
    });
  }

  /** @param place - of the element in its row; only some folds ask for it */
  lift(math: WgslArithmetic, element: WgslValue, place: () => WgslValue): State {
    return this.#folding.lift(math, element, this.fold.isPlaced ? place() : element, MEAN);
  }

  readonly join = (math: WgslArithmetic, a: State, b: State): State => this.#folding.combine(math, a, b);

  finish(math: WgslArithmetic, state: State): WgslValue {
    return this.#folding.finish(math, state, MEAN);
  }
}

/**
 * Parts of folds in scratch memory. Each value of a fold's state has a plane of `u.plane` words: for each part one for
 * each row. The planes of all phases lie after each other.
 */
export class ScratchCode {
  readonly #spec: RowsSpec;
  readonly #block: WgslBlock;

  constructor(spec: RowsSpec, block: WgslBlock) {
    this.#spec = spec;
    this.#block = block;
  }

  /** Stores the state of the workgroup's part of each fold. */
  storeParts(phase: number, folds: readonly OpenFold[], states: readonly State[]): void {
    const block = this.#block.inner();
    let plane = planesBefore(this.#spec.kernel, phase);
    for (const [index] of folds.entries()) {
      for (const part of states[index] as State) {
        const words = this.#wide(part);
        for (const [k, word] of components(words).entries()) {
          block.add(`scratch[${this.#place(plane, 'part + u.first_part', k)}] = bitcast<u32>(${word});`);
        }
        plane++;
      }
    }
    this.#block.enclose('if (is_row && mate == 0u)', block);
  }

  /** The states of the team's lanes for each fold after each has joined some of the parts. */
  joinParts(phase: number, folds: readonly OpenFold[]): readonly State[] {
    const block = this.#block;
    const width = this.#width;
    const math = new WgslArithmetic(block);
    const variables = folds.map((fold) => fold.variables(math, width));
    const inner = block.inner();
    const innerMath = new WgslArithmetic(inner);
    const at = block.fresh();
    let plane = planesBefore(this.#spec.kernel, phase);
    for (const [index, fold] of folds.entries()) {
      const own = variables[index] as State;
      const read = own.map(({ type }) => {
        const words = Array.from({ length: width }, (_, k) => `scratch[${this.#place(plane, at, k)}]`);
        plane++;
        const all = width === 1 ? (words[0] as string) : `vec4u(${words.join(', ')})`;
        return { text: inner.define(`bitcast<${wgslType(type, width)}>(${all})`), type, width } satisfies WgslValue;
      });
      for (const [part, { text }] of fold.join(innerMath, own, read).entries()) {
        inner.add(`${own[part]?.text} = ${text};`);
      }
    }
    block.enclose(`for (var ${at} = mate; ${at} < u.all_parts; ${at} += ${this.#spec.team.team}u)`, inner);
    return variables.map((state) => state.map((part) => ({ ...part, text: block.define(part.text) })));
  }

  /** Rows that a team computes at once. */
  get #width(): 1 | 4 {
    return this.#spec.along === 'rows' ? this.#spec.width : 1;
  }

  #wide(value: WgslValue): WgslValue {
    return value.width === this.#width ? value : { ...value, text: widened(value, this.#width), width: this.#width };
  }

  #place(plane: number, part: string, k: number): string {
    const width = this.#width;
    const row = width === 1 ? 'row' : `row * 4u + ${k}u`;
    const rows = width === 1 ? 'u.rows' : 'u.rows * 4u';
    return `${plane}u * u.plane + (${part}) * ${rows} + ${row}`;
  }
}

/** Values of all folds of the phases before one. */
export function planesBefore(kernel: Kernel, phase: number): number {
  return stateLength(foldsOf(kernel).slice(0, phase).flat());
}
