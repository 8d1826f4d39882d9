import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/** The work-items that add up their values, and where in workgroup memory. */
export interface Team {
  /** The own element of workgroup memory, for this work-item. */
  readonly place: Value;
  /** Number of this work-item in its team. */
  readonly lane: Value;
  /** Work-items of the team: a power of two. */
  readonly size: number;
  /** Elements between those of neighbours in the team. */
  readonly step: number;
}

/** Adds up the values of a team: the sum is at the place of lane 0. All work-items of the group must call it. */
export function sumOfTeam(k: FunctionBuilder, { place, lane, size, step }: Team, value: Value): void {
  k.store(place, value);
  k.barrier();
  for (let half = size / 2; half >= 1; half /= 2) {
    k.when(k.ult(lane, half), () => k.store(place, k.add(k.load(place), k.load(k.at(place, half * step)))));
    k.barrier();
  }
}
