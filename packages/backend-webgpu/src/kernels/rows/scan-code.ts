import type { Scans } from '@concord/kernel';
import { WgslArithmetic } from '../arithmetic/wgsl-arithmetic.ts';
import { type WgslBlock, type WgslValue, wgslType } from '../arithmetic/wgsl-block.ts';
import type { OpenFold } from './fold-code.ts';
import type { State } from './team.ts';
import type { TeamScan } from './team-scan.ts';

/** Vectors of elements to scan. */
interface Vectors {
  /** The state of all elements before. */
  readonly start: State;
  /** States of the elements of a lane's vectors; between one and the next lie those of the team's other lanes. */
  readonly vectors: readonly State[];
  /** True if the components of a vector are neighbours in the row. */
  readonly isAlong: boolean;
}

/**
 * Scans vectors of a team's lanes.
 *
 * @returns for each vector the states of its elements, and the state of all elements up to the last one
 */
export function scanVectors(
  block: WgslBlock,
  folds: OpenFold,
  scans: Scans,
  team: TeamScan,
  { start, vectors, isAlong }: Vectors,
): { readonly states: readonly State[]; readonly end: State } {
  const math = new WgslArithmetic(block);
  const own = vectors.map((vector) => (isAlong ? ofComponents(block, folds, scans, vector) : [vector]));
  const scanned = team.scan(
    block,
    own.map((states) => states.at(-1) as State),
  );
  let all: State | undefined;
  const none = folds.identity(math);
  const states = own.map((components, index) => {
    const { before, all: ofTeam } = scanned[index] as (typeof scanned)[number];
    const from = folds.join(math, start, all === undefined ? before : folds.join(math, all, before));
    all = all === undefined ? ofTeam : folds.join(math, all, ofTeam);
    const inclusive = isAlong ? joined(components, scans.reverse) : (components[0] as State);
    const exclusive = isAlong ? joined([none, ...components.slice(0, -1)], scans.reverse) : none;
    const chosen = folds.folds.flatMap((_, fold) =>
      folds.part(scans.exclusive[fold] === true ? exclusive : inclusive, fold),
    );
    return folds.join(math, from, chosen);
  });
  return { states, end: folds.join(math, start, all as State) };
}

/** The states of the first component, of the first two, and so on, in the order of the scans. */
function ofComponents(block: WgslBlock, folds: OpenFold, { reverse }: Scans, vector: State): readonly State[] {
  const math = new WgslArithmetic(block);
  const names = reverse ? ['w', 'z', 'y', 'x'] : ['x', 'y', 'z', 'w'];
  const states: State[] = [];
  for (const name of names) {
    const own = vector.map((part): WgslValue => ({ ...part, text: `${part.text}.${name}`, width: 1 }));
    const before = states.at(-1);
    states.push(before === undefined ? own : folds.join(math, before, own));
  }
  return states;
}

/** Four states, in the order of the scans, as one of vectors. */
function joined(states: readonly State[], reverse: boolean): State {
  const ordered = reverse ? [...states].reverse() : states;
  return (states[0] as State).map(({ type }, index): WgslValue => {
    const parts = ordered.map((state) => (state[index] as WgslValue).text);
    return { text: `${wgslType(type, 4)}(${parts.join(', ')})`, type, width: 4 };
  });
}
