import { ulpAt } from './float-arithmetic.ts';

export const MIN_NORMAL: number = 2 ** -126;
const LARGEST = 3.4028234663852886e38;

/** Which error is allowed where, in units of the last place unless `unit` says otherwise. */
export interface Grant {
  readonly ulps: number;
  /** The unit of the error. Default: the ulp of the wanted result. */
  readonly unit?: number;
}

/** The error of a result as a share of what is allowed; more than 1 is wrong. `wants` are exact, one for each way to take the operands. */
export function used(got: number, wants: readonly number[], { ulps, unit }: Grant): number {
  return Math.min(...wants.map((want) => usedOf(got, want, ulps, unit)));
}

function usedOf(got: number, want: number, ulps: number, unit: number | undefined): number {
  if (Number.isNaN(want) || Number.isNaN(got)) return Number.isNaN(want) && Number.isNaN(got) ? 0 : Infinity;
  if (got === Math.fround(want)) return 0;
  // Half an ulp more, as the wanted value is not rounded; results below the smallest normal number may be 0.
  const flushed = Math.abs(want) < 2 * MIN_NORMAL ? MIN_NORMAL : 0;
  const allowed = (ulps + 0.5) * (unit ?? ulpAt(want)) + flushed;
  if (Number.isFinite(got)) return Number.isFinite(want) ? Math.abs(got - want) / allowed : Infinity;
  return Math.sign(got) === Math.sign(want) && Math.abs(want) + allowed > LARGEST ? 1 : Infinity;
}

/** A subnormal operand, which a device may take for 0. */
export function flushed(x: number): readonly number[] {
  return Math.abs(x) < MIN_NORMAL ? [x, x < 0 || Object.is(x, -0) ? -0 : 0] : [x];
}

/** The result that takes the largest share of what is allowed. */
export interface Worst {
  used: number;
  detail: string;
}

/** Notes a result if it is worse than the worst so far. */
export function note(worst: Worst, part: number, detail: () => string): void {
  if (!(part > worst.used)) return;
  worst.used = part;
  worst.detail = detail();
}
