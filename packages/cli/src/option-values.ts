import { InvalidArgumentError } from 'commander';
import { BENCH_OPS, matchingOps } from './bench/select-cases.ts';

/** The number that an option's text says. */
export function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < Infinity)) throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

/** Globs of ops that can be timed, one of which there must be. */
export function timedOps(value: string): string {
  if (matchingOps(value).length === 0) throw new InvalidArgumentError(`There are: ${BENCH_OPS.join(', ')}.`);
  return value;
}
