import { median } from '../table.ts';

/** How long to measure. */
export interface Schedule {
  /** Rounds that count. Default: 7. */
  readonly rounds?: number;
  /** Milliseconds of a round, at least, in as many calls as that takes. Default: 20. */
  readonly roundMs?: number;
  /** Milliseconds of work before the rounds, at least. Default: 0. */
  readonly warmMs?: number;
  /** Milliseconds before each turn, in which threads of whose turn it was stop waiting by spinning. Default: 0. */
  readonly pauseMs?: number;
  /** Which of the rounds is the figure: on cores that others use too, the least is what the others leave alone. Default: median. */
  readonly takes?: 'median' | 'least';
}

/**
 * Milliseconds of one call when many follow each other: the median of `rounds` rounds of at least `roundMs`, each with
 * one wait at its end.
 */
export async function medianMs(
  run: () => void,
  wait: () => Promise<void>,
  { rounds = 7, roundMs = 20 }: Schedule = {},
): Promise<number> {
  const time = async (calls: number): Promise<number> => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) run();
    await wait();
    return performance.now() - start;
  };
  await time(3);
  const calls = await callsPerRound(time, roundMs);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push((await time(calls)) / calls);
  return median(times);
}

/** Calls that take `roundMs` or more with the wait for them. */
export async function callsPerRound(time: (calls: number) => Promise<number>, roundMs: number): Promise<number> {
  for (let calls = 1; ;) {
    const ms = await time(calls);
    if (ms >= roundMs) return calls;
    // A wait is most of the first times, so they tell little about the call.
    calls = Math.ceil(calls * Math.min(8, Math.max(1.25, (1.1 * roundMs) / ms)));
  }
}
