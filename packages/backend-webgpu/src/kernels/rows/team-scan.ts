import type { FoldStates } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, wgslType } from '../arithmetic/wgsl-block.ts';
import { meetsInSubgroups, setVariables, type State, type TeamSpec } from './team.ts';

/** The states that a lane gets of its team: those of the lanes before it joined, and those of all. */
export interface Scanned {
  readonly before: State;
  readonly all: State;
}

/**
 * Bytes of workgroup memory that a scan declares.
 *
 * @param words - values of a state
 * @param sets - states of a lane
 */
export function teamScanBytes(spec: TeamSpec, words: number, width: 1 | 4, sets: number): number {
  const { team, rows, subgroup } = spec;
  if (team === 1) return 0;
  if (!meetsInSubgroups(spec)) return 4 * width * words * team * rows;
  return team <= subgroup ? 0 : 4 * words * sets * (team / subgroup) * rows;
}

/** Code that scans the states of a team's lanes, in the order of the lanes. Every invocation of the workgroup must get there. */
export class TeamScan {
  readonly declarations: string[] = [];
  readonly #spec: TeamSpec;
  readonly #folds: FoldStates<WgslValue>;

  constructor(spec: TeamSpec, folds: FoldStates<WgslValue>) {
    this.#spec = spec;
    this.#folds = folds;
  }

  /** Each set by itself. What it leaves in workgroup memory must be read by all before it is used again. */
  scan(block: WgslBlock, sets: readonly State[]): readonly Scanned[] {
    const { team, subgroup } = this.#spec;
    const none = this.#folds.identity(new WgslArithmetic(block));
    if (team === 1) return sets.map((all) => ({ before: none, all }));
    if (!meetsInSubgroups(this.#spec)) return this.#inMemory(block, sets);
    if (team <= subgroup) return this.#scanRun(block, sets, team, 'team_lane', `(lane % ${subgroup}u) | ${team - 1}u`);
    return this.#meet(block, sets, team / subgroup);
  }

  /** Scans runs of `lanes` neighbours of a sub-group, of which this one is number `at`, and `last` the last. */
  #scanRun(block: WgslBlock, sets: readonly State[], lanes: number, at: string, last: string): readonly Scanned[] {
    const math = new WgslArithmetic(block);
    const up = (state: State, distance: number): State =>
      this.#each(block, state, ({ text }) => `subgroupShuffleUp(${text}, ${distance}u)`);
    const isBehind = (distance: number): WgslValue => {
      return { text: block.define(`${at} >= ${distance}u`), type: 'bool', width: 1 };
    };
    let now = sets;
    for (let distance = 1; distance < lanes; distance *= 2) {
      const condition = isBehind(distance);
      now = now.map((state) =>
        this.#folds.select(math, condition, this.#folds.join(math, up(state, distance), state), state),
      );
    }
    const isNotFirst = isBehind(1);
    const none = this.#folds.identity(math);
    return now.map((state) => ({
      before: this.#folds.select(math, isNotFirst, up(state, 1), none),
      all: this.#each(block, state, ({ text }) => `subgroupShuffle(${text}, ${last})`),
    }));
  }

  /** Sub-groups store what they have in workgroup memory; the lanes of each scan that. */
  #meet(block: WgslBlock, sets: readonly State[], groups: number): readonly Scanned[] {
    const { subgroup, rows } = this.#spec;
    const own = this.#scanRun(block, sets, subgroup, `(team_lane % ${subgroup}u)`, `${subgroup - 1}u`);
    const memory = own.map(({ all }) => this.#declare(all, groups * rows));
    const store = block.inner();
    for (const [set, { all }] of own.entries()) {
      for (const [k, { text }] of all.entries()) {
        store.add(`${memory[set]?.[k]}[slot * ${groups}u + team_lane / ${subgroup}u] = ${text};`);
      }
    }
    block.enclose(`if (team_lane % ${subgroup}u == 0u)`, store);
    block.add('workgroupBarrier();');
    const at = block.define(`lane & ${groups - 1}u`);
    const taken = own.map(({ all }, set) =>
      this.#each(block, all, (_, k) => `${memory[set]?.[k]}[slot * ${groups}u + ${at}]`),
    );
    const outer = this.#scanRun(block, taken, groups, at, `${groups - 1}u`);
    const math = new WgslArithmetic(block);
    const group = block.define(`team_lane / ${subgroup}u`);
    return outer.map(({ before, all }, set) => {
      const ofGroup = this.#each(block, before, ({ text }) => `subgroupShuffle(${text}, ${group})`);
      return { before: this.#folds.join(math, ofGroup, (own[set] as Scanned).before), all };
    });
  }

  /** Twice as far each time, through workgroup memory (Hillis, Steele, Data parallel algorithms, CACM 1986). */
  #inMemory(block: WgslBlock, sets: readonly State[]): readonly Scanned[] {
    const { team, rows, isAcross } = this.#spec;
    const stride = isAcross ? rows : 1;
    const math = new WgslArithmetic(block);
    const none = this.#folds.identity(math);
    const memory = this.#declare(sets[0] as State, team * rows);
    const read = (target: WgslBlock, like: State, at: string): State =>
      this.#each(target, like, (_, k) => `${memory[k]}[${at}]`);
    return sets.map((state) => {
      const own = state.map((part): WgslValue => {
        const name = block.fresh();
        block.add(`var ${name} = ${part.text};`);
        return { ...part, text: name };
      });
      const write = (target: WgslBlock): void => {
        for (const [k, { text }] of own.entries()) target.add(`${memory[k]}[lane] = ${text};`);
      };
      write(block);
      for (let distance = 1; distance < team; distance *= 2) {
        block.add('workgroupBarrier();');
        const step = block.inner();
        const joined = this.#folds.join(new WgslArithmetic(step), read(step, own, `lane - ${distance * stride}u`), own);
        setVariables(step, own, joined);
        block.enclose(`if (team_lane >= ${distance}u)`, step);
        block.add('workgroupBarrier();');
        write(block);
      }
      block.add('workgroupBarrier();');
      const neighbour = read(block, own, `select(lane, lane - ${stride}u, team_lane > 0u)`);
      const condition: WgslValue = { text: 'team_lane > 0u', type: 'bool', width: 1 };
      const last = isAcross ? `${(team - 1) * rows}u + slot` : `slot * ${team}u + ${team - 1}u`;
      const scanned = { before: this.#folds.select(math, condition, neighbour, none), all: read(block, own, last) };
      block.add('workgroupBarrier();');
      return scanned;
    });
  }

  #each(block: WgslBlock, state: State, textOf: (part: WgslValue, index: number) => string): State {
    return state.map((part, index) => ({ ...part, text: block.define(textOf(part, index)) }));
  }

  #declare(state: State, length: number): readonly string[] {
    return state.map(({ type, width }) => {
      const name = `scan${this.declarations.length}`;
      this.declarations.push(`var<workgroup> ${name}: array<${wgslType(type, width)}, ${length}>;`);
      return name;
    });
  }
}
