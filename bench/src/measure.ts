import { setTimeout as sleep } from 'node:timers/promises';
import type { LimitCase } from './limits/limit-case.ts';
import { callsPerRound, type Schedule } from './limits/median-ms.ts';
import { findError, sampleIndices } from './limits/sample.ts';
import { NotOffered, type Peer, type Prepared } from './peer.ts';
import { within } from './within.ts';

/** What became of a contestant in a case: its times, or why there are none. */
export type Outcome =
  | { readonly peer: Peer; readonly rounds: readonly number[] }
  | { readonly peer: Peer; readonly failed: string }
  | { readonly peer: Peer; readonly lacks: string };

interface Contestant {
  readonly peer: Peer;
  readonly prepared: Prepared;
  readonly calls: number;
  /** Milliseconds of a call, one for each round. */
  readonly rounds: number[];
}

/**
 * Times everybody on one case.
 *
 * All are prepared and checked first. Then come rounds in which each runs once, starting with another one each time, so
 * that what the machine does meanwhile hits all alike. A round is as many calls as fill it, and one wait for all of
 * them. Finding out how many that are, and one round more, is what warms.
 */
export async function measureCase(
  limitCase: LimitCase,
  peers: readonly Peer[],
  { rounds = 7, roundMs = 20, warmMs = 0, pauseMs = 0 }: Schedule = {},
): Promise<Outcome[]> {
  const outcomes = new Map<Peer, Outcome>();
  const running = new Set<Contestant>();
  const open: Prepared[] = [];
  const check = checkOf(limitCase);
  const attempt = async (peer: Peer, action: () => Promise<void>): Promise<boolean> => {
    try {
      await within(action());
      return true;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      outcomes.set(peer, error instanceof NotOffered ? { peer, lacks: message } : { peer, failed: message });
      return false;
    }
  };
  for (const peer of peers) {
    await attempt(peer, async () => {
      const prepared = await peer.prepare(limitCase);
      open.push(prepared);
      await time(prepared, 1);
      await check(prepared);
      const calls = await callsPerRound((count) => time(prepared, count), roundMs);
      running.add({ peer, prepared, calls, rounds: [] });
    });
  }
  const [first] = running;
  for (let warm = 0; first !== undefined && warm < warmMs;) {
    const went = await attempt(first.peer, async () => {
      warm += await time(first.prepared, first.calls);
    });
    if (!went) break;
  }
  for (let round = -1; round < rounds; round++) {
    const turn = [...running];
    for (let i = 0; i < turn.length; i++) {
      const contestant = turn[(i + round + 1) % turn.length] as Contestant;
      // A call that fills a round ran twice already.
      if (round < 0 && contestant.calls === 1) continue;
      if (pauseMs > 0) await sleep(pauseMs);
      const went = await attempt(contestant.peer, async () => {
        const ms = await time(contestant.prepared, contestant.calls);
        if (round >= 0) contestant.rounds.push(ms / contestant.calls);
      });
      if (!went) running.delete(contestant);
    }
  }
  for (const { peer, rounds: times } of running) outcomes.set(peer, { peer, rounds: times });
  // What has failed may fail again at its end; its outcome is known.
  for (const prepared of open) await prepared.close?.().catch(() => undefined);
  return peers.map((peer) => outcomes.get(peer) as Outcome);
}

/** Milliseconds of so many calls. */
async function time(prepared: Prepared, calls: number): Promise<number> {
  await prepared.resume?.();
  const start = performance.now();
  for (let i = 0; i < calls; i++) prepared.run();
  await prepared.wait?.();
  return performance.now() - start;
}

/** Compares sampled entries with float64, which is computed once for all. */
function checkOf(limitCase: LimitCase): (prepared: Prepared) => Promise<void> {
  const indices = sampleIndices(limitCase.length);
  const operands = limitCase.operands();
  const expected = indices.map((index) => limitCase.expected(operands, index));
  return async (prepared) => {
    const got = await prepared.entries(indices);
    for (const [i, want] of expected.entries()) {
      const error = findError(indices[i] as number, got[i] as number, want, limitCase.dtype);
      if (error !== undefined) throw new Error(error);
    }
  };
}
