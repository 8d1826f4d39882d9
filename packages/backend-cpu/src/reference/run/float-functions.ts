import type { NodeOp } from '@concord/backend-core/kernel';
import { U, widenedBy, widenedByUlps } from './float32.ts';
import { EXACT_FUNCTIONS, FLOAT_FUNCTIONS, type FloatFunction, type RoundingOp } from './functions.ts';
import { contains, hullOf, type Interval, isPoint, NOT_A_NUMBER } from './interval.ts';

/** The grants are of the rounded result; the reference is not rounded. */
const HALF_ULP = 0.5;
/** The last float32 below 2^24, up to which sin and cos are accurate; beyond it they are anything in [-1, 1]. */
const LARGEST_ANGLE = 2 ** 24 - 1;

/** The image of numbers under a function of one float32, or undefined where `op` is none. */
export function floatFunction(op: NodeOp): ((x: Interval) => Interval) | undefined {
  const exact = EXACT_FUNCTIONS[op];
  if (exact !== undefined) return ({ lo, hi }) => ({ lo: exact(lo), hi: exact(hi), nan: false });
  if (op === 'sin') return (x) => wave(x, Math.sin, Math.PI / 2);
  if (op === 'cos') return (x) => wave(x, Math.cos, 0);
  if (!(op in FLOAT_FUNCTIONS)) return undefined;
  const rounding = FLOAT_FUNCTIONS[op as RoundingOp];
  return (x) => imageOf(rounding, x);
}

function imageOf({ of, least, from = -Infinity, ulps }: FloatFunction, x: Interval): Interval {
  if (x.hi < from) return NOT_A_NUMBER;
  const values = [of(Math.max(x.lo, from)), of(x.hi)];
  if (least !== undefined && contains(x, least)) values.push(of(least));
  const error = ulps(Math.max(Math.abs(x.lo), Math.abs(x.hi))) + HALF_ULP;
  return widenedByUlps(hullOf(values, x.lo < from), error);
}

/** The image under sine or cosine, whose first maximum is at `crest`. */
function wave(x: Interval, of: (x: number) => number, crest: number): Interval {
  const nan = x.lo === -Infinity || x.hi === Infinity;
  if (nan && x.lo === x.hi) return NOT_A_NUMBER;
  const nearest = contains(x, 0) ? 0 : Math.min(Math.abs(x.lo), Math.abs(x.hi));
  const furthest = Math.max(Math.abs(x.lo), Math.abs(x.hi));
  if (nearest > LARGEST_ANGLE) return { lo: -1, hi: 1, nan };
  const values = furthest > LARGEST_ANGLE ? [-1, 1] : [of(x.lo), of(x.hi)];
  if (meetsPeriod(x, crest)) values.push(1);
  if (meetsPeriod(x, crest + Math.PI)) values.push(-1);
  return widenedBy(hullOf(values, nan), U * (4 + Math.min(furthest, LARGEST_ANGLE) / 1024));
}

/** Returns whether `place + 2 pi k` is among the numbers for an integer k. */
function meetsPeriod({ lo, hi }: Interval, place: number): boolean {
  const turns = (x: number): number => (x - place) / (2 * Math.PI);
  return Math.ceil(turns(lo)) <= Math.floor(turns(hi));
}

const ULPS = 6;

/** `atan2(y, x)` as C99 Annex F has it, of numbers. */
export function atan2(y: Interval, x: Interval): Interval {
  // The angle has no extreme inside of a rectangle of points: but for where it jumps, the corners have them.
  const angles = endsOf(y).flatMap((height) => endsOf(x).map((width) => Math.atan2(height, width)));
  const jumps = contains(y, 0) && x.lo < 0 && !(isPoint(y) && y.copy !== undefined);
  return widenedByUlps(hullOf(jumps ? [-Math.PI, ...angles, Math.PI] : angles, false), ULPS + HALF_ULP);
}

/** Returns the ends of an interval; those of a zero that was not read have both signs. */
function endsOf(interval: Interval): readonly number[] {
  const { lo, hi, copy } = interval;
  if (isPoint(interval) && copy !== undefined) return [lo];
  return contains(interval, 0) ? [lo, 0, -0, hi] : [lo, hi];
}
