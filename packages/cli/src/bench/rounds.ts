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
