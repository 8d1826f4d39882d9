import type { DeviceInfo } from '@concord/backend-core';
import type { ProfileState } from '@concord/variants';
import type { NotRun } from '../choose-backend.ts';
import type { BenchCase } from './bench-case.ts';
import type { BenchSize } from './bench-ops.ts';

/** A backend that was asked for. */
export interface BenchBackend {
  readonly backend: string;
  /** null where it cannot be used. */
  readonly device: DeviceInfo | null;
  /** Kernel variants that were forced, if any were: not what an application gets. */
  readonly forced?: readonly string[];
  /** The state of the device's tuning profile, for a backend that has kernel variants. */
  readonly tuning?: ProfileState;
  readonly notRun?: NotRun;
}

/** A case, and its outcome on each backend that was measured with it. */
export interface BenchRow {
  readonly benchCase: BenchCase;
  readonly results: readonly { readonly backend: string; readonly outcome: BenchOutcome }[];
}

/** A whole run, as it is printed and written. */
export interface BenchRun {
  readonly size: BenchSize;
  /** The option, where it was given. */
  readonly op?: string | undefined;
  readonly seconds: number;
  readonly backends: readonly BenchBackend[];
  readonly rows: readonly BenchRow[];
  /** Ctrl-C ended it. */
  readonly isPart: boolean;
  readonly ms: number;
}

/** Tells that a result is wrong, or that an op failed. */
export function hasFailure({ rows }: BenchRun): boolean {
  return rows.some(({ results }) => results.some(({ outcome }) => isFailure(outcome)));
}

/** The median speed beside that of the first backend; undefined for the first, and where one of the two is missing. */
export function ratioOf(
  { benchCase, results }: BenchRow,
  backend: string,
  first: string | undefined,
): number | undefined {
  if (backend === first) return undefined;
  const speeds = [backend, first].map((name) => {
    const outcome = results.find((result) => result.backend === name)?.outcome;
    return outcome?.status === 'measured' ? speedOf(benchCase, outcome).median : undefined;
  });
  return speeds[0] === undefined || speeds[1] === undefined ? undefined : speeds[0] / speeds[1];
}

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

/** The middle of some numbers, and how far they spread. */
export interface Spread {
  readonly median: number;
  /** The 10th percentile. */
  readonly low: number;
  /** The 90th percentile. */
  readonly high: number;
}

/** The percentiles of a list that is not empty. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((x, y) => x - y);
  return { median: percentile(sorted, 0.5), low: percentile(sorted, 0.1), high: percentile(sorted, 0.9) };
}

/** The middle one of a list that is not empty; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** Interpolates between the two nearest entries. */
function percentile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] as number;
  const above = sorted[Math.ceil(at)] as number;
  return below + (above - below) * (at - Math.floor(at));
}
