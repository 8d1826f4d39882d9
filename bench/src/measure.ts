import { findError } from './naive.ts';
import type { Outcome, Peer, Prepared } from './peer.ts';
import type { Case } from './work.ts';

/** How long to measure. */
export interface Schedule {
  readonly rounds: number;
  /** Rounds before those, not counted. */
  readonly warmups: number;
  /** A run that is over sooner is repeated within its round, `maxRepeats` times at most. */
  readonly roundMs: number;
  readonly maxRepeats: number;
  /** For all rounds of one case together; there are three whatever they take. Default: Infinity. */
  readonly budgetMs?: number;
}

interface Contestant {
  readonly peer: Peer;
  readonly prepared: Prepared;
  readonly repeats: number;
  readonly seconds: number[];
}

/**
 * Times every peer on one case.
 *
 * All are prepared and checked first. Then come rounds in which each peer runs once, starting with another one each
 * time, so that what the machine does meanwhile hits all alike. A run that is over in a blink is repeated within its
 * round, and only then waited for. The first rounds, in which the engine still compiles, are not counted.
 */
export async function measureCase(testCase: Case, peers: readonly Peer[], schedule: Schedule): Promise<Outcome[]> {
  const failures = new Map<Peer, string>();
  const running: Contestant[] = [];
  let expectedMs = 0;
  for (const peer of peers) {
    if (!peer.ops.includes(testCase.work.op)) continue;
    try {
      const prepared = await prepare(peer, testCase);
      const onceMs = await time(prepared, 1);
      const repeats = repeatsFor(onceMs, schedule);
      expectedMs += onceMs * repeats;
      running.push({ peer, prepared, repeats, seconds: [] });
    } catch (error) {
      failures.set(peer, error instanceof Error ? error.message : String(error));
    }
  }
  const { warmups, budgetMs = Infinity } = schedule;
  const rounds = Math.min(schedule.rounds, Math.max(3, Math.floor(budgetMs / expectedMs) - warmups));
  for (let round = -warmups; round < rounds; round++) {
    for (let turn = 0; turn < running.length; turn++) {
      const { prepared, repeats, seconds } = running[(turn + round + warmups) % running.length] as Contestant;
      const ms = await time(prepared, repeats);
      if (round >= 0) seconds.push(ms / 1000 / repeats);
    }
  }
  for (const { prepared } of running) await prepared.close?.();
  return [
    ...running.map(({ peer, seconds }) => ({ case: testCase, peer, seconds })),
    ...[...failures].map(([peer, failure]) => ({ case: testCase, peer, seconds: [], failure })),
  ];
}

/** @throws {Error} where the peer fails or computes something else */
async function prepare(peer: Peer, testCase: Case): Promise<Prepared> {
  const prepared = await peer.prepare(testCase.work);
  await time(prepared, 1);
  const error = findError(testCase.work, await prepared.result());
  if (error !== undefined) throw new Error(`wrong result: ${error}`);
  return prepared;
}

/** Milliseconds of so many runs. */
async function time(prepared: Prepared, repeats: number): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < repeats; i++) prepared.run();
  await prepared.wait?.();
  return performance.now() - start;
}

function repeatsFor(onceMs: number, { roundMs, maxRepeats }: Schedule): number {
  return Math.min(maxRepeats, Math.max(1, Math.ceil(roundMs / Math.max(onceMs, 0.01))));
}
