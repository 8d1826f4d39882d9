import { widenedByUlps } from './float32.ts';
import { contains, hullOf, type Interval, isPoint } from './interval.ts';

const ULPS = 6;
const HALF_ULP = 0.5;

/** `atan2(y, x)` as C99 Annex F has it, of numbers. */
export function atan2(y: Interval, x: Interval): Interval {
  // The angle has no extreme inside of a rectangle of points: but for where it jumps, the corners have them.
  const angles = endsOf(y).flatMap((height) => endsOf(x).map((width) => Math.atan2(height, width)));
  const jumps = contains(y, 0) && x.lo < 0 && !(isPoint(y) && y.copy !== undefined);
  return widenedByUlps(hullOf(jumps ? [-Math.PI, ...angles, Math.PI] : angles, false), ULPS + HALF_ULP);
}

/** Its ends, and of a zero those of both signs where it was not read. */
function endsOf(interval: Interval): readonly number[] {
  const { lo, hi, copy } = interval;
  if (isPoint(interval) && copy !== undefined) return [lo];
  return contains(interval, 0) ? [lo, 0, -0, hi] : [lo, hi];
}
