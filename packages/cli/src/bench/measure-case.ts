import { type ComputeBackend, isBackendError } from '@concord/backend-core';
import type { BenchWork } from './bench-case.ts';
import type { BenchOutcome } from './bench-run.ts';
import { type PlacedWork, placeWork } from './operand.ts';

/** The schedule of a measurement. */
export interface BenchSchedule {
  /** Time for all rounds of a case on a backend together; there are `MIN_ROUNDS` even if they take somewhat longer. */
  readonly seconds: number;
  /** Ends the measurement; the rounds that are over are kept. */
  readonly signal: AbortSignal;
}

export const MIN_ROUNDS = 3;
export const MAX_ROUNDS = 1000;
/** There is one round if `MIN_ROUNDS` would take more than this many times `seconds`. */
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

/** Makes `calls` calls with one wait after them. @returns milliseconds */
export type TimeCalls = (calls: number) => Promise<number>;

/** The minimum length of a round, in milliseconds: the clock and the wait at its end shall not count. */
export const ROUND_MS = 20;
/** Calls that may be queued before a wait. */
export const MAX_CALLS = 4096;
/** Trials to find how many calls make a round. */
const MAX_ATTEMPTS = 8;

/** The length of a round. */
export interface RoundOptions {
  /** Default: 20. */
  readonly roundMs?: number;
  /** Default: 4096. */
  readonly maxCalls?: number;
  /** Ends the search. */
  readonly signal?: AbortSignal;
}

/** The number of calls that fill a round, and the milliseconds that they took. The search also warms up the backend. */
export async function findCallsPerRound(
  time: TimeCalls,
  { roundMs = ROUND_MS, maxCalls = MAX_CALLS, signal }: RoundOptions = {},
): Promise<{ readonly calls: number; readonly ms: number }> {
  let calls = 1;
  for (let attempt = 1; ; attempt++) {
    const ms = await time(calls);
    // Far longer than it was meant to be: something else kept the machine busy, now or before.
    const isTooLong = calls > 1 && ms > 5 * roundMs;
    const isTooShort = ms < roundMs && calls < maxCalls;
    if (!(isTooLong || isTooShort) || attempt === MAX_ATTEMPTS || signal?.aborted === true) return { calls, ms };
    // The wait is a large part of a short round: not more than ten times as many at once.
    calls = Math.min(maxCalls, calls * 10, Math.ceil((1.2 * calls * roundMs) / Math.max(ms, 0.001)));
  }
}

/** The number of entries of a result that are compared. */
export const CHECKED_ENTRIES = 64;

/** Reads entries of a result. */
export type ReadEntries = (indices: readonly number[]) => Promise<readonly number[]>;

/**
 * Makes a check that compares entries all over the result of a case, the first and the last among them, with the oracle,
 * which computes them once.
 *
 * The tolerances catch wrong answers, not last bits: those are for `concord conformance` to judge.
 *
 * @returns a description of the error, or undefined
 */
export function checkEntries(
  work: Pick<BenchWork, 'expected' | 'hostResult' | 'outputLength'>,
): (read: ReadEntries) => Promise<string | undefined> {
  const indices = sampleIndices(work.hostResult?.().length ?? work.outputLength);
  const expected = indices.map((index) => work.expected(index));
  return async (read) => {
    const got = await read(indices);
    for (const [i, { want, tolerance }] of expected.entries()) {
      const value = got[i] as number;
      // Infinities and NaN are right where the oracle has them.
      if (Math.abs(value - want) <= tolerance || Object.is(value, want)) continue;
      const place = (indices[i] as number).toLocaleString('en');
      return `entry ${place} is ${Number(value.toPrecision(8))}, want ${Number(want.toPrecision(8))}`;
    }
    return undefined;
  };
}

/** Indices all over a result of `length` entries. */
function sampleIndices(length: number): number[] {
  const last = length - 1;
  // A step that has no factor in common with a row of 2^n elements visits all columns.
  const step = Math.max(1, Math.floor(last / (CHECKED_ENTRIES - 1))) | 1;
  return Array.from({ length: Math.ceil(last / step) + 1 }, (_, i) => Math.min(i * step, last));
}
