import { setTimeout as sleep } from 'node:timers/promises';
import { checkEntries, findCallsPerRound, median, type TimeCalls } from '@concord/cli/bench';
import type { LimitCase } from './limits/cases.ts';
import { NotOffered, type Peer, type Prepared } from './peer.ts';

/** The length of a measurement. */
export interface Schedule {
  /** Rounds that count. Default: 7. */
  readonly rounds?: number;
  /** Minimum length of a round in milliseconds; it has as many calls as that takes. Default: 20. */
  readonly roundMs?: number;
  /** Minimum length of the work before the rounds, in milliseconds. Default: 0. */
  readonly warmMs?: number;
  /** Milliseconds before each turn, in which threads of whose turn it was stop waiting by spinning. Default: 0. */
  readonly pauseMs?: number;
  /**
   * Which of the rounds is the figure. On cores that other programs use too, the minimum is the least disturbed. Default: median.
   */
  readonly takes?: 'median' | 'least';
}

/** A contestant that is ready. */
export interface Runner {
  readonly time: TimeCalls;
  /** Before it is timed. @throws {Error} where its result is wrong */
  readonly check: () => Promise<void>;
  readonly close?: () => Promise<void>;
}

/** Milliseconds of a call, one for each round, or why there are none. */
export type Turns =
  | { readonly rounds: readonly number[] }
  | { readonly failed: string }
  /** It has nothing for this work, which says nothing against it. */
  | { readonly lacks: string };

interface Running extends Runner {
  readonly calls: number;
  readonly rounds: number[];
}

/**
 * Times all contestants on one work.
 *
 * All are prepared first. Then come rounds in which each runs once, starting with another one each time, so that other
 * work of the machine affects all alike. A round is as many calls as fill it, and one wait for all of them. The search for
 * their number, and one round more, are the warm-up.
 */
export async function takeTurns<Key>(
  contestants: ReadonlyMap<Key, () => Promise<Runner>>,
  { rounds = 7, roundMs = 20, warmMs = 0, pauseMs = 0 }: Schedule = {},
): Promise<Map<Key, Turns>> {
  const outcomes = new Map<Key, Turns>();
  const running = new Map<Key, Running>();
  const open: Runner[] = [];
  const attempt = async (key: Key, action: () => Promise<void>): Promise<boolean> => {
    try {
      await within(action());
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      outcomes.set(key, error instanceof NotOffered ? { lacks: message } : { failed: message });
      running.delete(key);
      return false;
    }
  };
  for (const [key, prepare] of contestants) {
    await attempt(key, async () => {
      const runner = await prepare();
      open.push(runner);
      await runner.check();
      const { calls } = await findCallsPerRound(runner.time, { roundMs });
      running.set(key, { ...runner, calls, rounds: [] });
    });
  }
  const [first] = running;
  for (let warm = 0; first !== undefined && warm < warmMs;) {
    const [key, { time, calls }] = first;
    const went = await attempt(key, async () => {
      warm += await time(calls);
    });
    if (!went) break;
  }
  for (let round = -1; round < rounds; round++) {
    const turn = [...running];
    for (let i = 0; i < turn.length; i++) {
      const [key, runner] = turn[(i + round + 1) % turn.length] as (typeof turn)[0];
      // A call that fills a round ran twice already.
      if (round < 0 && runner.calls === 1) continue;
      if (pauseMs > 0) await sleep(pauseMs);
      await attempt(key, async () => {
        const ms = await runner.time(runner.calls);
        if (round >= 0) runner.rounds.push(ms / runner.calls);
      });
    }
  }
  for (const [key, { rounds: times }] of running) outcomes.set(key, { rounds: times });
  // What has failed may fail again at its end; its outcome is known.
  for (const runner of open) await runner.close?.().catch(() => undefined);
  return new Map([...contestants.keys()].map((key) => [key, outcomes.get(key) as Turns]));
}

/** The figure of some rounds. */
export function figureOf(rounds: readonly number[], takes: Schedule['takes'] = 'median'): number {
  return takes === 'least' ? Math.min(...rounds) : median(rounds);
}

/** A device that is lost may never answer. */
const PATIENCE_MS = 120_000;

/** Waits for an action. @throws {Error} where it does not end in two minutes */
async function within<T>(action: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([action, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The times of a contestant in a case, or why there are none. */
export type Outcome = { readonly peer: Peer } & Turns;

/** Times all contestants on one case, each after its result was compared with float64. */
export async function measureCase(
  limitCase: LimitCase,
  peers: readonly Peer[],
  schedule: Schedule = {},
): Promise<Outcome[]> {
  const findWrong = checkEntries(limitCase);
  const prepare = async (peer: Peer): Promise<Runner> => {
    const prepared = await peer.prepare(limitCase);
    return {
      async check() {
        await time(prepared, 1);
        const wrong = await findWrong((indices) => prepared.entries(indices));
        if (wrong !== undefined) throw new Error(`wrong result: ${wrong}`);
      },
      time: (calls) => time(prepared, calls),
      close: async () => prepared.close?.(),
    };
  };
  const outcomes = await takeTurns(new Map(peers.map((peer) => [peer, () => prepare(peer)])), schedule);
  return [...outcomes].map(([peer, turns]) => ({ peer, ...turns }));
}

/** Milliseconds of `calls` calls and the wait for them. */
async function time(prepared: Prepared, calls: number): Promise<number> {
  await prepared.resume?.();
  const start = performance.now();
  for (let i = 0; i < calls; i++) prepared.run();
  await prepared.wait?.();
  return performance.now() - start;
}
