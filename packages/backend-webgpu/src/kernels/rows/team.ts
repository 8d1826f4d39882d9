import type { FoldStates, States } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, wgslType } from '../arithmetic/wgsl-block.ts';
import type { ValueType } from '@concord/backend-core/kernel';

/** The lanes of a workgroup: `rows` teams of `team` lanes each. */
export interface TeamSpec {
  readonly team: number;
  readonly rows: number;
  /** Lanes of a sub-group where a team's lanes are neighbours and all sub-groups are of one size; else 0. */
  readonly subgroup: number;
  /** Neighbouring lanes belong to neighbouring rows, not to one team. */
  readonly isAcross: boolean;
}

/** State of a fold: one value or more. */
export type State = States<WgslValue>;

/** Sets variables to a state. */
export function setVariables(block: WgslBlock, variables: State, state: State): void {
  for (const [part, { text }] of state.entries()) block.add(`${variables[part]?.text} = ${text};`);
}

/** The functions that join two states of a fold. */
type Joins = readonly Pick<FoldStates<WgslValue>, 'join'>[];

/** Invocations of a workgroup. */
export function lanesOf({ team, rows }: TeamSpec): number {
  return team * rows;
}

/**
 * Bytes of workgroup memory that a team's code declares.
 *
 * @param phases - types of the values that it brings together, phase by phase
 * @param width - components of each
 */
export function teamBytes(spec: TeamSpec, phases: readonly (readonly ValueType[])[], width: 1 | 4): number {
  let values = 0;
  for (const turn of [0, 1]) {
    const own = phases.filter((_, phase) => phase % 2 === turn);
    for (const type of new Set(own.flat())) {
      values += Math.max(...own.map((types) => types.filter((each) => each === type).length));
    }
  }
  return 4 * width * values * memoryLength(spec);
}

/** Elements of each array that a team needs. */
function memoryLength({ team, rows, subgroup }: TeamSpec): number {
  if (team === 1 || (subgroup > 0 && team <= subgroup)) return 0;
  return meetsInSubgroups({ team, subgroup }) ? (team / subgroup) * rows : team * rows;
}

/** Returns whether one sub-group can join the states of all sub-groups of a team. */
export function meetsInSubgroups({ team, subgroup }: Pick<TeamSpec, 'team' | 'subgroup'>): boolean {
  return subgroup > 0 && team <= subgroup * subgroup;
}

/** Code that brings the states of a team's lanes together, and declares the workgroup memory that it needs. */
export class TeamCode {
  readonly declarations: string[] = [];
  readonly #spec: TeamSpec;
  /** Arrays by type: those of even calls of `reduce`, then those of odd ones. */
  readonly #arrays: readonly Map<string, string[]>[] = [new Map(), new Map()];
  readonly #used: Map<string, number> = new Map();
  #calls = 0;

  constructor(spec: TeamSpec) {
    this.#spec = spec;
  }

  /** Declares `team_lane`, the lane of its team, and `slot`, the team of the workgroup. */
  place(block: WgslBlock): void {
    const { team, rows, isAcross } = this.#spec;
    block.add(`let team_lane = ${team === 1 ? '0u' : isAcross ? `lane / ${rows}u` : `lane % ${team}u`};`);
    block.add(`let slot = ${rows === 1 ? '0u' : isAcross ? `lane % ${rows}u` : `lane / ${team}u`};`);
  }

  /**
   * The joined state of all lanes of a team, known to each of them. Every invocation of the workgroup must get
   * here.
   */
  reduce(block: WgslBlock, states: readonly State[], folds: Joins): readonly State[] {
    const { team, subgroup } = this.#spec;
    if (team === 1) return states;
    this.#calls++;
    this.#used.clear();
    if (!meetsInSubgroups(this.#spec)) return this.#tree(block, states, folds);
    const first = this.#shuffle(block, states, folds, Math.min(team, subgroup));
    return team <= subgroup ? first : this.#meet(block, first, folds, team / subgroup);
  }

  /**
   * Neighbours exchange what they have, twice as far each time: all end with the same. Sub-groups are taken to be runs of
   * local indices, which WGSL does not promise: docs/decisions/0012-kernels.md.
   */
  #shuffle(block: WgslBlock, states: readonly State[], folds: Joins, lanes: number): readonly State[] {
    const math = new WgslArithmetic(block);
    let now = states;
    for (let distance = lanes / 2; distance >= 1; distance /= 2) {
      now = now.map((state, index) => {
        const other = state.map((part) => ({
          ...part,
          text: block.define(`subgroupShuffleXor(${part.text}, ${distance}u)`),
        }));
        return (folds[index] as Joins[number]).join(math, state, other);
      });
    }
    return now;
  }

  /** Sub-groups store what they have in workgroup memory; each lane takes one, and they are shuffled again. */
  #meet(block: WgslBlock, states: readonly State[], folds: Joins, groups: number): readonly State[] {
    const { subgroup } = this.#spec;
    const memory = states.map((state) => state.map((part) => this.#declare(part)));
    const store = block.inner();
    for (const [index, state] of states.entries()) {
      for (const [at, part] of state.entries()) {
        store.add(`${memory[index]?.[at]}[slot * ${groups}u + team_lane / ${subgroup}u] = ${part.text};`);
      }
    }
    block.enclose(`if (team_lane % ${subgroup}u == 0u)`, store);
    block.add('workgroupBarrier();');
    const taken = states.map((state, index) =>
      state.map((part, at) => ({
        ...part,
        text: block.define(`${memory[index]?.[at]}[slot * ${groups}u + (lane & ${groups - 1}u)]`),
      })),
    );
    return this.#shuffle(block, taken, folds, groups);
  }

  /** A tree in workgroup memory. */
  #tree(block: WgslBlock, states: readonly State[], folds: Joins): readonly State[] {
    const { team, rows, isAcross } = this.#spec;
    const memory = states.map((state) => state.map((part) => this.#declare(part)));
    const stride = isAcross ? rows : 1;
    const read = (target: WgslBlock, at: string): readonly State[] =>
      states.map((state, index) =>
        state.map((part, k) => ({ ...part, text: target.define(`${memory[index]?.[k]}[${at}]`) })),
      );
    const write = (target: WgslBlock, now: readonly State[]): void => {
      for (const [index, state] of now.entries()) {
        for (const [k, part] of state.entries()) target.add(`${memory[index]?.[k]}[lane] = ${part.text};`);
      }
    };
    write(block, states);
    for (let half = team / 2; half >= 1; half /= 2) {
      block.add('workgroupBarrier();');
      const step = block.inner();
      const [mine, others] = [read(step, 'lane'), read(step, `lane + ${half * stride}u`)];
      const math = new WgslArithmetic(step);
      write(
        step,
        mine.map((state, index) => (folds[index] as Joins[number]).join(math, state, others[index] as State)),
      );
      block.enclose(`if (team_lane < ${half}u)`, step);
    }
    block.add('workgroupBarrier();');
    return read(block, isAcross ? 'slot' : `slot * ${team}u`);
  }

  /** An array that the call before does not use: what the one before that left in it, all have read at a barrier since. */
  #declare({ type, width }: WgslValue): string {
    const element = wgslType(type, width);
    const own = this.#arrays[this.#calls % 2] as Map<string, string[]>;
    const arrays = own.get(element) ?? [];
    own.set(element, arrays);
    const place = this.#used.get(element) ?? 0;
    this.#used.set(element, place + 1);
    if (place === arrays.length) {
      arrays.push(`team${this.declarations.length}`);
      this.declarations.push(`var<workgroup> ${arrays[place]}: array<${element}, ${memoryLength(this.#spec)}>;`);
    }
    return arrays[place] as string;
  }
}
