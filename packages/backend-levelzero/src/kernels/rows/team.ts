import type { NumberType } from '@concord/backend-core/kernel';
import type { FoldStates, PhaseFold } from '@concord/kernel';
import type { SubgroupOperation, Value } from '@concord/spirv-builder';
import type { KernelCode } from '../run/kernel-code.ts';
import { fromWord, type States, toWord } from './states.ts';

/** Who works on a row together: one work-item, a sub-group, or all of a group, which has sub-groups or not. */
export type TeamKind = 'alone' | 'subgroup' | 'group';

/** The work-items of a row's team, and this one's place among them. */
export interface Team {
  readonly kind: TeamKind;
  /** The number of lanes. */
  readonly lanes: number;
  /** This one's number, of the type of places. */
  readonly lane: Value;
  /** Work-items of a sub-group; undefined if there are none to use. */
  readonly subgroupSize: number | undefined;
  /** The team's number in its group. */
  readonly number: Value;
  /** Teams of a group. */
  readonly perGroup: number;
}

/** The definition of a team for {@link teamOf}. */
export interface TeamParams {
  readonly kind: TeamKind;
  readonly groupSize: number;
  readonly subgroupSize: number | undefined;
}

const WORD_BYTES = 4;

/**
 * The team that this work-item is in. With sub-groups, work-items are numbered by sub-group and place in it, since how these
 * lie in a group is the device's affair.
 */
export function teamOf(code: KernelCode, { kind, groupSize, subgroupSize }: TeamParams): Team {
  const { k, index } = code;
  const zero = k.constant(index, 0);
  if (kind === 'alone') {
    const number = groupSize === 1 ? zero : k.uconvert(k.localId(0), index);
    return { kind, lanes: 1, lane: zero, subgroupSize, number, perGroup: groupSize };
  }
  if (subgroupSize === undefined) {
    return { kind, lanes: groupSize, lane: k.uconvert(k.localId(0), index), subgroupSize, number: zero, perGroup: 1 };
  }
  const place = k.uconvert(k.subgroupLocalId(), index);
  const subgroup = k.uconvert(k.subgroupId(), index);
  if (kind === 'subgroup') {
    const perGroup = groupSize / subgroupSize;
    return { kind, lanes: subgroupSize, lane: place, subgroupSize, number: subgroup, perGroup };
  }
  const lane = k.add(k.mul(subgroup, subgroupSize), place);
  return { kind, lanes: groupSize, lane, subgroupSize, number: zero, perGroup: 1 };
}

/** Bytes of workgroup memory in which a team joins states of that many words, for one phase. */
export function teamLocalBytes({ kind, groupSize, subgroupSize = 1 }: TeamParams, words: number): number {
  const sharing = groupSize / subgroupSize;
  return kind === 'group' && sharing > 1 ? WORD_BYTES * words * sharing : 0;
}

/** The states of a row from those of its team, given to all of them. Every work-item of the group must call it. */
export function joinTeam(code: KernelCode, team: Team, folds: FoldStates<Value>, own: States): States {
  if (team.kind === 'alone') return own;
  if (team.subgroupSize === undefined) return joinInMemory(code, team, folds, own);
  const joined = joinSubgroup(code, team.subgroupSize, folds, own);
  if (team.kind === 'subgroup') return joined;
  const { k, index } = code;
  return joinFew(code, folds, joined, {
    count: team.lanes / team.subgroupSize,
    place: k.uconvert(k.subgroupId(), index),
    writes: k.eq(k.subgroupLocalId(), 0),
  });
}

/** The join of the states of folds by a device's own instruction, where it has one: integers in their order, floats added. */
function ownInstruction({ op, folding }: PhaseFold): SubgroupOperation | undefined {
  const [type] = folding.state;
  switch (op) {
    case 'sum':
    case 'mean':
    case 'count':
      return type === 'f32' ? 'fadd' : 'iadd';
    case 'max':
    case 'min':
      // Floats by keys, which are signed.
      return type === 'u32' ? `u${op}` : `s${op}`;
    case 'any':
      return 'umax';
    case 'all':
      return 'umin';
    default:
      return undefined;
  }
}

/** Joins by the device's own instructions if all folds have one, else by a butterfly of shuffles. */
function joinSubgroup(code: KernelCode, size: number, folds: FoldStates<Value>, own: States): States {
  const { k } = code;
  const instructions = folds.folds.map(ownInstruction);
  if (instructions.every((each) => each !== undefined)) {
    return own.map((value, index) => k.subgroupReduce(instructions[index] as SubgroupOperation, value));
  }
  const a = code.math(1);
  const lane = k.subgroupLocalId();
  let states = own;
  for (let distance = size / 2; distance >= 1; distance /= 2) {
    const partner = k.xor(lane, distance);
    const theirs = states.map((value, index) => {
      return fromWord(k, k.subgroupShuffle(toWord(k, value), partner), folds.types[index] as NumberType);
    });
    // The same way round for both, so that all get the same bits.
    const isLower = k.eq(k.and(lane, distance), 0);
    states = folds.join(a, folds.select(a, isLower, states, theirs), folds.select(a, isLower, theirs, states));
  }
  return states;
}

interface Few {
  readonly count: number;
  /** The place of this work-item's states. */
  readonly place: Value;
  readonly writes: Value;
}

/** Few states, through workgroup memory: each work-item joins them all for itself. */
function joinFew(code: KernelCode, folds: FoldStates<Value>, own: States, { count, place, writes }: Few): States {
  const { k } = code;
  if (count === 1) return own;
  const word = k.types.int(32);
  const shared = folds.types.map(() => k.localArray(word, count));
  k.when(writes, () => {
    shared.forEach((words, index) => {
      k.store(k.at(words, place), toWord(k, own[index] as Value));
    });
  });
  k.barrier();
  const sets = Array.from({ length: count }, (_, from) =>
    folds.types.map((type, index) => fromWord(k, k.load(k.at(shared[index] as Value, from)), type)),
  );
  return folds.joinAll(code.math(1), sets);
}

/** A tree in workgroup memory (M. Harris, "Optimizing Parallel Reduction in CUDA", 2007), for devices without sub-groups. */
function joinInMemory(code: KernelCode, { lanes, lane }: Team, folds: FoldStates<Value>, own: States): States {
  const { k } = code;
  const word = k.types.int(32);
  const shared = folds.types.map(() => k.localArray(word, lanes));
  const write = (states: States): void => {
    shared.forEach((words, index) => {
      k.store(k.at(words, lane), toWord(k, states[index] as Value));
    });
  };
  const read = (from: Value | number): States =>
    folds.types.map((type, index) => fromWord(k, k.load(k.at(shared[index] as Value, from)), type));
  write(own);
  for (let half = lanes / 2; half >= 1; half /= 2) {
    k.barrier();
    k.when(k.ult(lane, k.constant(lane.type, half)), () =>
      write(folds.join(code.math(1), read(lane), read(k.add(lane, half)))),
    );
  }
  k.barrier();
  return read(0);
}
