import { afterEach, expect, it, vi } from 'vitest';
import { medianMs } from './median-ms.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('makes rounds of many calls with one wait each, long enough for what a wait costs', async () => {
  // A clock of its own: a call takes 0.1 ms, a wait 0.5.
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  let calls = 0;
  const rounds: number[] = [];
  const run = (): void => void calls++;
  const wait = async (): Promise<void> => {
    now += 0.5 + 0.1 * calls;
    rounds.push(calls);
    calls = 0;
  };
  const ms = await medianMs(run, wait, { rounds: 3, roundMs: 2 });
  const timed = rounds.slice(-3);
  expect(new Set(timed).size).toBe(1);
  expect(timed[0]).toBeGreaterThanOrEqual(15);
  expect(ms).toBeCloseTo(0.1 + 0.5 / (timed[0] as number), 10);
});
