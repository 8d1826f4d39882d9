import type { Tensor } from '@concord/ops';
import { expect } from 'vitest';

export const numbers = async (x: Tensor): Promise<number[]> => [...(await x.toArray())];

/** Expects numbers to some digits after the point. */
export async function close(x: Tensor, wanted: readonly number[], digits = 4): Promise<void> {
  const got = await numbers(x);
  expect(got).toHaveLength(wanted.length);
  for (const [at, each] of wanted.entries()) expect(got[at], got.join()).toBeCloseTo(each, digits);
}
