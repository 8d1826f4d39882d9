import { expect, it, vi } from 'vitest';
import { casesOf, type LimitCase } from './limits/cases.ts';
import { measureCase } from './turns.ts';
import { notOffered, type Peer } from './peer.ts';

const [limitCase] = casesOf('quick') as [LimitCase];
const right = (index: number): number => limitCase.expected(index).want;

function peer(name: string, log: string[], entry: (index: number) => number = right): Peer {
  return {
    name,
    role: 'peer',
    version: '1',
    prepare: async () => ({
      resume: async () => void log.push(`${name} resumes`),
      run: () => void log.push(`${name} runs`),
      wait: async () => void log.push(`${name} is awaited`),
      entries: async (indices) => indices.map(entry),
      close: async () => void log.push(`${name} is closed`),
    }),
  };
}

it('awaits every round of everybody once, starting with another one each time', async () => {
  const log: string[] = [];
  const outcomes = await measureCase(limitCase, [peer('a', log), peer('b', log)], { rounds: 2, roundMs: 0 });
  expect(outcomes.map((outcome) => 'rounds' in outcome && outcome.rounds.length)).toEqual([2, 2]);
  const round = (...names: string[]): string[] =>
    names.flatMap((name) => [`${name} resumes`, `${name} runs`, `${name} is awaited`]);
  // Each is checked once and timed once by itself before.
  expect(log).toEqual([
    ...round('a', 'a', 'b', 'b'),
    ...[...round('b', 'a'), ...round('a', 'b')],
    ...['a is closed', 'b is closed'],
  ]);
});

it('says why there are no times, and goes on with the others', async () => {
  const late = peer('late', []);
  let runs = 0;
  const peers: Peer[] = [
    peer('right', []),
    peer('wrong', [], (index) => right(index) + 1),
    { ...peer('other', []), prepare: async ({ work }) => notOffered(work) },
    {
      ...late,
      prepare: async (each) => {
        const prepared = await late.prepare(each);
        const wait = async (): Promise<void> => {
          if (++runs > 3) throw new Error('device lost');
        };
        return { ...prepared, wait };
      },
    },
  ];
  const outcomes = await measureCase(limitCase, peers, { rounds: 7, roundMs: 0 });
  expect(outcomes.map(({ peer: { name }, ...rest }) => [name, rest])).toEqual([
    ['right', { rounds: expect.objectContaining({ length: 7 }) as number[] }],
    ['wrong', { failed: expect.stringMatching(/^wrong result: entry 0 is/) as string }],
    ['other', { lacks: 'has no gemm' }],
    ['late', { failed: 'device lost' }],
  ]);
});

it('works until the device is warm before it counts', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const runs: number[] = [];
  const slow: Peer = {
    ...peer('slow', []),
    prepare: async () => ({
      run: () => void runs.push((now += 5)),
      entries: async (indices) => indices.map(right),
    }),
  };
  await measureCase(limitCase, [slow], { rounds: 1, roundMs: 1, warmMs: 30 });
  vi.restoreAllMocks();
  // One to check, one to count the calls of a round, six that warm, one that counts.
  expect(runs).toHaveLength(1 + 1 + 6 + 1);
});
