import type { Kernel } from '@concord/backend-core/kernel';
import { type FoldSource, FoldStates, partFoldsOf, type PhaseFold, stateLength } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, widened, wgslType } from '../arithmetic/wgsl-block.ts';
import { components } from '../run/operand-code.ts';
import type { RowsSpec } from './rows-spec.ts';
import { setVariables, type State } from './team.ts';

/** A fold of a graph. The code of each is together: its loads may be of other lines than those of the next. */
export type OpenFold = FoldStates<WgslValue>;

/** The folds of a phase. */
export function openFolds(folds: readonly PhaseFold[]): readonly OpenFold[] {
  return folds.map((fold) => new FoldStates<WgslValue>([fold]));
}

/** The factor and the divisor of a mean. */
export const mean: FoldSource<WgslValue>['mean'] = () => ({
  scale: { text: 'u.scale', type: 'f32', width: 1 },
  divisor: { text: 'u.divisor', type: 'f32', width: 1 },
});

/** Variables that begin with the state that changes nothing. */
export function foldVariables(fold: OpenFold, math: WgslArithmetic, width: 1 | 4): State {
  return variablesOf(math.block, fold.identity(math), width);
}

/** Variables that begin with a state. */
export function variablesOf(block: WgslBlock, state: State, width: 1 | 4): State {
  return state.map((part) => {
    const name = block.fresh();
    block.add(`var ${name} = ${widened(part, width)};`);
    return { text: name, type: part.type, width };
  });
}

/** The values of variables now. */
export function readVariables(block: WgslBlock, variables: State): State {
  return variables.map((part) => ({ ...part, text: block.define(part.text) }));
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
    this.#block.enclose('if (is_row && team_lane == 0u)', block);
  }

  /** The states of the team's lanes for each fold after each has joined some of the parts, by default of all. */
  joinParts(phase: number, folds: readonly OpenFold[], first = '0u', end = 'u.all_parts'): readonly State[] {
    const block = this.#block;
    const width = this.#width;
    const math = new WgslArithmetic(block);
    const variables = folds.map((fold) => foldVariables(fold, math, width));
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
      setVariables(inner, own, fold.join(innerMath, own, read));
    }
    block.enclose(
      `for (var ${at} = ${first === '0u' ? '' : `${first} + `}team_lane; ${at} < ${end}; ${at} += ${this.#spec.team.team}u)`,
      inner,
    );
    return variables.map((state) => readVariables(block, state));
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

/** Values of all folds of the phases before one; after those of folds comes that of scans. */
export function planesBefore(kernel: Kernel, phase: number): number {
  return stateLength(partFoldsOf(kernel).slice(0, phase).flat());
}
