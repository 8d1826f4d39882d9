import { OP_NAMES } from '@concord/backend-core';
import { commaList } from '../comma-list.ts';
import type { BenchOp } from './bench-case.ts';

/** Values of `--size`. */
export const BENCH_SIZES = ['small', 'real'] as const;

/** One of {@link BENCH_SIZES}. */
export type BenchSize = (typeof BENCH_SIZES)[number];

/** The ops that `--op` chooses from. */
export const BENCH_OPS: readonly BenchOp[] = [...OP_NAMES, 'memory'];

/** The ops that one of some globs matches; a comma separates the globs. */
export function matchingOps(globs: string): readonly BenchOp[] {
  const patterns = commaList(globs).map((glob) => new RegExp(`^${glob.replace(/\W/g, spellGlob)}$`));
  return BENCH_OPS.filter((op) => patterns.some((pattern) => pattern.test(op)));
}

function spellGlob(sign: string): string {
  if (sign === '*') return '.*';
  return sign === '?' ? '.' : `\\${sign}`;
}
