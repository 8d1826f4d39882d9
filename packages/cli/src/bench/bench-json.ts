import type { DeviceInfo } from '@concord/backend-core';
import type { ProfileState } from '@concord/variants';
import { toNotRunJson } from '../conformance/backend-run.ts';
import { present } from '../objects.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import type { BenchCase } from './bench-case.ts';
import {
  type BenchBackend,
  type BenchOutcome,
  type BenchRow,
  type BenchRun,
  ratioOf,
  speedOf,
  spreadOf,
} from './bench-run.ts';
import { CHECKED_ENTRIES, MAX_CALLS, MAX_ROUNDS, MIN_ROUNDS, ROUND_MS } from './measure-case.ts';
import type { BenchSize } from './bench-ops.ts';

/** The output of `concord bench --json`. */
export interface BenchJson {
  /** Ctrl-C ended the run: cases or results are missing. */
  readonly interrupted: boolean;
  readonly size: BenchSize;
  /** The option, where it was given. */
  readonly op?: string;
  /** ISO 8601. */
  readonly date: string;
  readonly versions: { readonly concord: string; readonly host: string };
  readonly method: BenchMethodJson;
  /** Backends in the order of `--backend`; ratios are to the first one that has a device. */
  readonly backends: readonly BenchBackendJson[];
  readonly cases: readonly BenchCaseJson[];
}

/** The method of measurement. */
export interface BenchMethodJson {
  readonly seconds: number;
  readonly roundMs: number;
  readonly minRounds: number;
  readonly maxRounds: number;
  readonly maxCallsPerRound: number;
  /** Entries of each result that are compared with the oracle. */
  readonly checkedEntries: number;
  readonly spread: string;
}

/** A backend, its device and the best it reached, or why it was not measured. */
export interface BenchBackendJson {
  readonly backend: string;
  readonly device: DeviceInfo | null;
  readonly versions: Readonly<Record<string, string>>;
  readonly forced?: readonly string[];
  readonly tuning?: ProfileState;
  readonly notRun?: { readonly message: string; readonly hint: string | null; readonly isFailure: boolean };
}

/** A case and its results. */
export interface BenchCaseJson extends Omit<BenchCase, 'prepare'> {
  readonly results: readonly BenchResultJson[];
}

/** A result on one backend. */
export interface BenchResultJson {
  readonly backend: string;
  readonly status: BenchOutcome['status'];
  /** The reason why it was not measured. */
  readonly detail?: string;
  readonly firstCallMs?: number;
  readonly callsPerRound?: number;
  /** Seconds a call took, of every round. */
  readonly roundSeconds?: readonly number[];
  /** Seconds a call took: the median, and the 10th and 90th percentile. */
  readonly seconds?: { readonly median: number; readonly p10: number; readonly p90: number };
  /** The speed in the unit of the case. */
  readonly speed?: { readonly median: number; readonly p10: number; readonly p90: number };
  /** The median speed beside that of the first backend with a device; absent for that one. */
  readonly ratio?: number;
}

/** The run for programs. */
export function toBenchJson(run: BenchRun, { date, concord, host }: ReportEnvironment): BenchJson {
  const first = run.backends.find(({ device }) => device !== null)?.backend;
  return {
    interrupted: run.isPart,
    size: run.size,
    ...present({ op: run.op }),
    date: date.toISOString(),
    versions: { concord, host },
    method: {
      ...{ seconds: run.seconds, roundMs: ROUND_MS, minRounds: MIN_ROUNDS, maxRounds: MAX_ROUNDS },
      ...{ maxCallsPerRound: MAX_CALLS, checkedEntries: CHECKED_ENTRIES, spread: '10th to 90th percentile of rounds' },
    },
    backends: run.backends.map(backendJson),
    cases: run.rows.map((row) => caseJson(row, first)),
  };
}

function backendJson({ backend, device, forced, tuning, notRun }: BenchBackend): BenchBackendJson {
  return {
    ...{ backend, device, versions: device === null ? {} : { driver: device.driver } },
    ...present({ forced, tuning, notRun: notRun && toNotRunJson(notRun) }),
  };
}

function caseJson(row: BenchRow, first: string | undefined): BenchCaseJson {
  const { id, op, title, unit, flops, bytes } = row.benchCase;
  const results = row.results.map(({ backend, outcome }): BenchResultJson => {
    if (outcome.status !== 'measured') return { backend, ...outcome };
    const ratio = ratioOf(row, backend, first);
    const seconds = percentiles(spreadOf(outcome.roundSeconds));
    const speed = percentiles(speedOf(row.benchCase, outcome));
    return { backend, ...outcome, seconds, speed, ...present({ ratio }) };
  });
  return { id, op, title, unit, flops, bytes, results };
}

function percentiles({ median, low, high }: ReturnType<typeof spreadOf>): NonNullable<BenchResultJson['speed']> {
  return { median, p10: low, p90: high };
}
