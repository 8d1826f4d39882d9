import { checkEntries } from '@concord/cli/bench';
import type { LimitCase } from './limits/cases.ts';
import type { Peer, Prepared } from './peer.ts';
import { type Runner, type Schedule, takeTurns, type Turns } from './turns.ts';

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
