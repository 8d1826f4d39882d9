import { isBackendError } from '@concord/backend-core';
import type { BenchCase, BenchOp, BenchWork } from './bench-case.ts';
import { amountOf, type BenchOutcome, type BenchRow } from './bench-run.ts';
import { type BenchSchedule, measureCase } from './measure-case.ts';
import type { OpenedBackend } from './open-backends.ts';
import { formatDuration, formatSpeed } from '../output/format.ts';

/** A call that would take more than this many times the schedule's seconds is not begun. */
export const MAX_CALL = 5;

/** Called before and after each measurement. */
export interface BenchListener {
  readonly onStart: (benchCase: BenchCase, backend: string) => void;
  readonly onResult: (row: BenchRow, backend: string, outcome: BenchOutcome) => void;
}

/**
 * Measures every case on every backend: the backends take turns case by case, one at a time, all with the same numbers.
 * Ends early when the signal is aborted.
 */
export async function runCases(
  cases: readonly BenchCase[],
  backends: readonly OpenedBackend[],
  schedule: BenchSchedule,
  { onStart, onResult }: BenchListener,
): Promise<readonly BenchRow[]> {
  const contestants = backends.filter(({ opened }) => opened !== undefined).map((each) => new Contestant(each));
  const rows: BenchRow[] = [];
  for (const benchCase of cases) {
    const results: { backend: string; outcome: BenchOutcome }[] = [];
    const row = { benchCase, results };
    let work: BenchWork | undefined;
    for (const contestant of contestants) {
      if (schedule.signal.aborted) break;
      const { backend } = contestant.subject;
      onStart(benchCase, backend);
      const outcome =
        contestant.reasonToSkip(benchCase, schedule) ??
        (await contestant.measure(benchCase, (work ??= benchCase.prepare()), schedule));
      if (outcome === undefined) break;
      if (results.length === 0) rows.push(row);
      results.push({ backend, outcome });
      onResult(row, backend, outcome);
    }
  }
  return rows;
}

/** A backend, and its results so far. */
class Contestant {
  readonly subject: OpenedBackend;
  /** The last speed in each op, in the unit of the case per second. */
  readonly #speeds = new Map<BenchOp, number>();
  /** An error after which a backend object refuses all further work. */
  #broken: string | undefined;

  constructor(subject: OpenedBackend) {
    this.subject = subject;
  }

  reasonToSkip(benchCase: BenchCase, { seconds }: BenchSchedule): BenchOutcome | undefined {
    if (this.#broken !== undefined) return { status: 'skipped', detail: `after "${this.#broken}"` };
    const speed = this.#speeds.get(benchCase.op);
    if (speed === undefined) return undefined;
    const needed = amountOf(benchCase) / speed;
    if (needed <= MAX_CALL * seconds) return undefined;
    const so = `${formatSpeed(speed / 1e9)} ${benchCase.unit}`;
    const enough = Math.ceil(needed / MAX_CALL);
    const detail = `one call would take ${formatDuration(1000 * needed)} at ${so}; --seconds ${enough} would allow it`;
    return { status: 'skipped', detail };
  }

  async measure(benchCase: BenchCase, work: BenchWork, schedule: BenchSchedule): Promise<BenchOutcome | undefined> {
    const { opened } = this.subject;
    if (opened === undefined) return undefined;
    try {
      const outcome = await measureCase(work, opened, schedule);
      const best = outcome?.status === 'measured' ? Math.min(...outcome.roundSeconds) : undefined;
      if (best !== undefined) this.#speeds.set(benchCase.op, amountOf(benchCase) / best);
      return outcome;
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      // Nothing after the first of these is a separate result.
      if (['DEVICE_ERROR', 'DEVICE_LOST', 'DISPOSED'].some((code) => isBackendError(error, code as 'DISPOSED'))) {
        this.#broken = detail;
      }
      return { status: 'failed', detail };
    }
  }
}
