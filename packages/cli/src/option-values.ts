import { OP_NAMES } from '@concord/backend-core';
import { InvalidArgumentError } from 'commander';
import type { BenchOp } from './bench/bench-case.ts';
import { BENCH_OPS, matchingOps } from './bench/select-cases.ts';

/** The number that an option's text says. */
export function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < Infinity)) throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

/** Globs of ops that can be timed, one of which there must be. */
export function timedOps(value: string): string {
  return oneOf(value, BENCH_OPS);
}

/** Globs of ops that have kernels, one of which there must be. */
export function computedOps(value: string): string {
  return oneOf(value, OP_NAMES);
}

function oneOf(globs: string, ops: readonly BenchOp[]): string {
  if (matchingOps(globs).some((op) => ops.includes(op))) return globs;
  throw new InvalidArgumentError(`There are: ${ops.join(', ')}.`);
}
