import type { NodeOp } from '@concord/backend-core/kernel';
import { inverted } from './comparisons.ts';
import { ANY_BOOL, type Interval, isPoint, truth } from './interval.ts';

/** Operations of bools, of which some may be true or false. */
export const BOOL_OPS: Readonly<Partial<Record<NodeOp, (a: Interval, b: Interval) => Interval>>> = {
  and: (a, b) => ({ lo: Math.min(a.lo, b.lo), hi: Math.min(a.hi, b.hi), nan: false }),
  or: (a, b) => ({ lo: Math.max(a.lo, b.lo), hi: Math.max(a.hi, b.hi), nan: false }),
  xor: (a, b) => (isPoint(a) && isPoint(b) ? truth(a.lo !== b.lo) : ANY_BOOL),
  not: inverted,
};
