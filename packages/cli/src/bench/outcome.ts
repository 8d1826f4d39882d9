import type { BenchCase } from './bench-case.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** The outcome of a case on a backend. */
export type BenchOutcome =
  | {
      readonly status: 'measured';
      /** The first call and the wait for it, with compilation and allocation on first use. */
      readonly firstCallMs: number;
      /** The number of calls that were queued before each wait. */
      readonly callsPerRound: number;
      /** Seconds a call took, one number for each round. */
      readonly roundSeconds: readonly number[];
    }
  | {
      /**
       * `wrong`: the result is. `failed`: an error that was not foreseen. `unsupported`: as declared. `skipped`: it does not
       * fit or would take too long.
       */
      readonly status: 'wrong' | 'failed' | 'unsupported' | 'skipped';
      readonly detail: string;
    };

/** An outcome with times. */
export type Measured = Extract<BenchOutcome, { status: 'measured' }>;

/** Tells that an outcome makes the exit code 1. */
export function isFailure({ status }: BenchOutcome): boolean {
  return status === 'wrong' || status === 'failed';
}

/** The speed in the unit of the case: of the median round, and of the 10th and 90th percentile. */
export function speedOf(benchCase: BenchCase, { roundSeconds }: Measured): Spread {
  const perSecond = amountOf(benchCase) / 1e9;
  return spreadOf(roundSeconds.map((seconds) => perSecond / seconds));
}

/** Operations or bytes of a call, whichever its case is counted in. */
export function amountOf({ unit, flops, bytes }: BenchCase): number {
  return unit === 'GFLOP/s' ? flops : bytes;
}
