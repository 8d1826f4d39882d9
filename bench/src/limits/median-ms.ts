import { median } from '../table.ts';

/**
 * Milliseconds of one call when many follow each other: the median of `rounds` rounds of at least `roundMs`, each with
 * one wait at its end.
 */
export async function medianMs(
  run: () => void,
  wait: () => Promise<void>,
  { rounds = 7, roundMs = 20 }: { readonly rounds?: number; readonly roundMs?: number } = {},
): Promise<number> {
  const time = async (calls: number): Promise<number> => {
    const start = performance.now();
    for (let i = 0; i < calls; i++) run();
    await wait();
    return performance.now() - start;
  };
  let calls = 1;
  await time(3);
  for (;;) {
    const ms = await time(calls);
    if (ms >= roundMs) break;
    // A wait is most of the first times, so they tell little about the call.
    calls = Math.ceil(calls * Math.min(8, Math.max(1.25, (1.1 * roundMs) / ms)));
  }
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push((await time(calls)) / calls);
  return median(times);
}
