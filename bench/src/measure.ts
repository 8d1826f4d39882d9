import { findError } from './naive.ts';
import type { Outcome, Peer, Prepared } from './peer.ts';
import type { Case } from './work.ts';

/**
 * Times every peer on one case.
 *
 * All are prepared and checked first. Then come rounds in which each peer runs once, starting with another one each
 * time, so that what the machine does meanwhile hits all alike. A run that is over in a blink is repeated within its
 * round. The first rounds, in which the engine still compiles, are not counted.
 */
export async function measureCase(
  testCase: Case,
  peers: readonly Peer[],
  rounds: number,
  warmups: number,
): Promise<Outcome[]> {
  const contestants = [];
  for (const peer of peers) {
    if (!peer.ops.includes(testCase.work.op)) continue;
    contestants.push({ peer, ...(await prepare(peer, testCase)) });
  }
  const running = contestants.flatMap(({ peer, prepared }) => (prepared ? [{ peer, prepared }] : []));
  const times = new Map<Peer, number[]>(running.map(({ peer }) => [peer, []]));
  const repeats = new Map(running.map(({ peer, prepared }) => [peer, repeatsFor(prepared)]));
  for (let round = -warmups; round < rounds; round++) {
    for (let turn = 0; turn < running.length; turn++) {
      const { peer, prepared } = running[(turn + round + warmups) % running.length] as (typeof running)[number];
      const count = repeats.get(peer) as number;
      const start = performance.now();
      for (let i = 0; i < count; i++) prepared.run();
      const seconds = (performance.now() - start) / 1000 / count;
      if (round >= 0) times.get(peer)?.push(seconds);
    }
  }
  for (const { prepared } of running) await prepared.close?.();
  return contestants.map(({ peer, failure }) => ({
    case: testCase,
    peer,
    seconds: times.get(peer) ?? [],
    ...(failure === undefined ? {} : { failure }),
  }));
}

async function prepare(peer: Peer, testCase: Case): Promise<{ prepared?: Prepared; failure?: string }> {
  try {
    const prepared = await peer.prepare(testCase.work);
    prepared.run();
    const error = findError(testCase.work, await prepared.result());
    return error === undefined ? { prepared } : { failure: `wrong result: ${error}` };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function repeatsFor(prepared: Prepared): number {
  const start = performance.now();
  prepared.run();
  const milliseconds = performance.now() - start;
  return Math.min(20, Math.max(1, Math.ceil(10 / Math.max(milliseconds, 0.01))));
}
