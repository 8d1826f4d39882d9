import type { ComputeBackend } from '@concord/backend-core';
import { memory, type Tensor, tidy } from '../../src/index.ts';
import { expect } from 'vitest';
import { type Layout, withLayout } from './laid-out.ts';

/** One call of a function, and what must come out: worked out on the host, in float64. */
export interface OpCase {
  readonly run: (backend: ComputeBackend) => Tensor | readonly Tensor[];
  /** Row-major, of each tensor. */
  readonly want: ArrayLike<number> | readonly ArrayLike<number>[];
  /** Of the first tensor. */
  readonly shape?: readonly number[];
  /** Largest difference, relative to the largest number of `want`. Default 1e-5. */
  readonly tolerance?: number;
}

/** Cases by what they are of. */
export type OpCases = Readonly<Record<string, OpCase>>;

/** Several lists in one. */
export const casesOf = (lists: readonly OpCases[]): OpCases => Object.assign({}, ...lists) as OpCases;

/** Runs a case; nothing may remain of it but what it returns. */
export async function checkCase(
  { run, want, shape, tolerance = 1e-5 }: OpCase,
  backend: ComputeBackend,
  layout: Layout = 'dense',
): Promise<void> {
  const before = memory();
  const results = tidy(() => {
    const result = withLayout(layout, () => run(backend));
    return Array.isArray(result) ? [...(result as Tensor[])] : [result as Tensor];
  });
  try {
    if (shape !== undefined) expect(results[0]?.shape).toEqual(shape);
    const wanted = isList(want) ? want : [want];
    expect(results.length).toBe(wanted.length);
    for (const [index, result] of results.entries()) {
      expectClose(await result.toArray(), wanted[index] as ArrayLike<number>, tolerance);
    }
  } finally {
    for (const result of results) result.dispose();
  }
  expect(memory()).toEqual(before);
}

function isList(want: OpCase['want']): want is readonly ArrayLike<number>[] {
  return Array.isArray(want) && typeof want[0] === 'object';
}

function expectClose(got: ArrayLike<number>, want: ArrayLike<number>, tolerance: number): void {
  expect(got.length).toBe(want.length);
  let scale = 1e-30;
  for (let i = 0; i < want.length; i++) {
    if (Number.isFinite(want[i])) scale = Math.max(scale, Math.abs(want[i] as number));
  }
  for (let i = 0; i < want.length; i++) {
    const [a, b] = [got[i] as number, want[i] as number];
    const equal = Object.is(a, b) || a === b || Math.abs(a - b) <= tolerance * scale;
    if (!equal) expect.fail(`element ${i}: ${a}, wanted ${b}\n got ${list(got)}\nwant ${list(want)}`);
  }
}

function list(numbers: ArrayLike<number>): string {
  return Array.from(numbers).slice(0, 24).join(', ');
}
