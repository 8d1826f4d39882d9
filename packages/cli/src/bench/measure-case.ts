import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import type { BenchWork } from './bench-case.ts';
import { checkEntries } from './check-entries.ts';
import type { BenchOutcome } from './outcome.ts';
import { type PlacedWork, placeWork } from './placed-work.ts';
import { findCallsPerRound } from './rounds.ts';

/** The schedule of a measurement. */
export interface BenchSchedule {
  /** For all rounds of a case on a backend together; there are `MIN_ROUNDS` even if they take somewhat longer. */
  readonly seconds: number;
  /** Ends the measurement; the rounds that are over are kept. */
  readonly signal: AbortSignal;
}

export const MIN_ROUNDS = 3;
export const MAX_ROUNDS = 1000;
/** If `MIN_ROUNDS` would take more than this many times `seconds`, there is one round. */
const MAX_OVERTIME = 4;

/**
 * Times a case on a backend. The first call is timed alone, and its result is checked. Then rounds follow for the time of the
 * schedule: calls are queued for 20 ms, and one wait and a read of 4 bytes of the result end the round. At last the result is
 * checked again.
 *
 * @returns undefined when it was interrupted before the first round was over
 * @throws {BackendError} errors of the backend, except those that mean that the case is too large for it
 */
export async function measureCase(
  work: BenchWork,
  backend: ComputeBackend,
  schedule: BenchSchedule,
): Promise<BenchOutcome | undefined> {
  if (work.plan !== undefined) {
    const support = backend.supports(work.plan.op, work.plan.call);
    if (!support.ok) return { status: 'unsupported', detail: support.reason };
  }
  let placed: PlacedWork | undefined;
  try {
    placed = placeWork(work, backend);
    await backend.synchronize();
    return await measure(work, backend, placed, schedule);
  } catch (error) {
    if (!isBackendError(error, 'OUT_OF_MEMORY')) return ignoreAbort(error, schedule.signal);
    return { status: 'skipped', detail: error.message };
  } finally {
    placed?.free();
  }
}

async function measure(
  work: BenchWork,
  backend: ComputeBackend,
  placed: PlacedWork,
  { seconds, signal }: BenchSchedule,
): Promise<BenchOutcome | undefined> {
  const timeRound = async (calls: number): Promise<number> => {
    const started = performance.now();
    for (let i = 0; i < calls; i++) {
      const pending = placed.call();
      if (pending !== undefined) await pending;
    }
    await backend.synchronize({ signal });
    // A wait that ends before the work is done would make the round look short; the read comes after the work.
    await placed.touch();
    const ms = performance.now() - started;
    await turn();
    return ms;
  };
  const findWrong = checkEntries(work);
  const check = (): Promise<string | undefined> => findWrong((indices) => placed.entries(indices));

  const firstCallMs = await timeRound(1);
  const wrong = await check();
  if (wrong !== undefined) return { status: 'wrong', detail: wrong };
  const { calls: callsPerRound, ms: warmMs } = await findCallsPerRound(timeRound, { signal });
  const hasTime = MIN_ROUNDS * warmMs <= MAX_OVERTIME * 1000 * seconds;
  const roundSeconds = hasTime ? [] : [warmMs / 1000 / callsPerRound];
  const started = performance.now();
  while (hasTime && roundSeconds.length < MAX_ROUNDS) {
    const isOver = performance.now() - started + warmMs > 1000 * seconds;
    if (isOver && roundSeconds.length >= MIN_ROUNDS) break;
    if (signal.aborted) break;
    const ms = await timeRound(callsPerRound).catch((error: unknown) => ignoreAbort(error, signal));
    if (ms !== undefined) roundSeconds.push(ms / 1000 / callsPerRound);
  }
  if (roundSeconds.length === 0) return undefined;
  const wrongLater = await check();
  if (wrongLater !== undefined)
    return { status: 'wrong', detail: `${wrongLater}, after ${roundSeconds.length} rounds` };
  return { status: 'measured', firstCallMs, callsPerRound, roundSeconds };
}

/** A wait that Ctrl-C ended is no error. */
function ignoreAbort(error: unknown, signal: AbortSignal): undefined {
  if (!signal.aborted) throw error;
}

/** Lets the process handle Ctrl-C, and a page be drawn: a backend that computes in the call itself would prevent both. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
