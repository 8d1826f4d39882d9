import { expect, it } from 'vitest';
import { cpuCases } from './cases.ts';
import { measureCase } from './measure.ts';
import { naiveEntry, resultLength } from './naive.ts';
import type { Peer } from './peer.ts';
import type { Case } from './work.ts';

const [testCase] = cpuCases(true) as [Case];
const right = Array.from({ length: resultLength(testCase.work) }, (_, i) => naiveEntry(testCase.work, i));

function peer(name: string, log: string[], result: readonly number[] = right): Peer {
  return {
    name,
    version: '1',
    ops: ['gemm'],
    prepare: async () => ({
      run: () => void log.push(`${name} runs`),
      wait: async () => void log.push(`${name} is awaited`),
      result: async () => result,
      close: async () => void log.push(`${name} is closed`),
    }),
  };
}

it('awaits every round of every peer once, starting with another one each time', async () => {
  const log: string[] = [];
  const schedule = { rounds: 2, warmups: 0, roundMs: 0, maxRepeats: 1 };
  const outcomes = await measureCase(testCase, [peer('a', log), peer('b', log)], schedule);
  expect(outcomes.map(({ peer: { name }, seconds }) => [name, seconds.length])).toEqual([
    ['a', 2],
    ['b', 2],
  ]);
  // Each is checked and timed once by itself before.
  expect(log.slice(8)).toEqual([
    ...['a runs', 'a is awaited', 'b runs', 'b is awaited'],
    ...['b runs', 'b is awaited', 'a runs', 'a is awaited'],
    ...['a is closed', 'b is closed'],
  ]);
});

it('says why a peer has no times, and leaves out those without the op', async () => {
  const schedule = { rounds: 9, warmups: 0, roundMs: 0, maxRepeats: 1, budgetMs: 0 };
  const peers = [peer('right', []), peer('wrong', [], [...right].reverse()), { ...peer('other', []), ops: [] }];
  const [first, second, ...others] = await measureCase(testCase, peers, schedule);
  // No budget still gives three rounds.
  expect(first?.seconds.length).toBe(3);
  expect(second).toMatchObject({ seconds: [], failure: expect.stringMatching(/^wrong result: entry/) as string });
  expect(others).toEqual([]);
});
