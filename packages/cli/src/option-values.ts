import { OP_NAMES, type OpName } from '@concord/backend-core';
import type { GatherView } from '@concord/backend-core/kernel';
import { type Command, InvalidArgumentError } from 'commander';
import type { BenchOp } from './bench/bench-case.ts';
import { BENCH_OPS, matchingOps } from './bench/bench-ops.ts';
import { commaList } from './comma-list.ts';
import { nearIds } from './near-ids.ts';

/** The duration of `concord fuzz` without `--seconds` and `--count`. */
export const DEFAULT_FUZZ_SECONDS = 10;

/** The number that an option's text says. */
export function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number < Infinity)) throw new InvalidArgumentError('It must be a number above 0.');
  return number;
}

/** A number of things, one at least. */
export function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be an integer above 0.');
  return number;
}

/** A part of a whole. */
export function fraction(value: string): number {
  const number = Number(value);
  if (!(number > 0 && number <= 1)) throw new InvalidArgumentError('It must be above 0 and up to 1, such as 0.1.');
  return number;
}

/** A 32-bit seed. */
export function seed(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number >= 2 ** 32 || value.trim() === '') {
    throw new InvalidArgumentError('It must be an integer from 0 to 4294967295.');
  }
  return number;
}

/** The length of an axis. */
export function size(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 0 || value.trim() === '') {
    throw new InvalidArgumentError('It must be an integer from 0 on.');
  }
  return number;
}

/** A shape, with commas between its axes. */
export function sizes(value: string): readonly number[] {
  return value.trim() === '' ? [] : value.split(',').map(size);
}

/** Shapes by the names of gather inputs, one of which each use of the option adds. */
export function gathered(
  value: string,
  before: Readonly<Record<string, GatherView>> = {},
): Readonly<Record<string, GatherView>> {
  const [, name, shape] = /^([^=]+)=(.*)$/.exec(value) ?? [];
  if (name === undefined || shape === undefined) throw new InvalidArgumentError('It looks like table=50000,64.');
  return { ...before, [name]: { shape: sizes(shape) } };
}

/** Globs of ops that can be timed, each of which means one. */
export function timedOps(value: string): string {
  return checkOps(value, BENCH_OPS);
}

/** Globs of ops that have kernels, each of which means one. */
export function computedOps(value: string): string {
  return checkOps(value, OP_NAMES);
}

/** The ops with kernels that globs mean. */
export function opsWithKernels(value: string): OpName[] {
  const matching = matchingOps(computedOps(value));
  return OP_NAMES.filter((op) => matching.includes(op));
}

function checkOps(globs: string, ops: readonly BenchOp[]): string {
  const words = commaList(globs);
  const unknown = words.find((word) => !matchingOps(word).some((op) => ops.includes(op)));
  if (unknown === undefined && words.length > 0) return globs;
  const [near] = nearIds(unknown ?? '', ops, 1);
  // Commander's own form of a suggestion.
  const suggestion = near === undefined ? '' : `\n(Did you mean ${near}?)`;
  throw new InvalidArgumentError(`There are: ${ops.join(', ')}.${suggestion}`);
}

/** The kinds of rows of `concord profile`. */
export const PROFILE_ROWS = ['op', 'shape', 'variant', 'launch'] as const;

/** A module of another author that brings a backend. */
export interface ModuleOptions {
  /** The path of a JavaScript file, from the working directory, or the name of a package that is installed there. */
  readonly module?: string;
  /** The name of the export; needed if there are several candidates. */
  readonly export?: string;
}

/** Adds `--module` and `--export` to a command that runs a backend. */
export function addModuleOptions(command: Command): Command {
  return command
    .option('--module <file>', 'run the backend that a module exports: a path from here, or an installed package')
    .option('--export <name>', 'which export of --module (default: the only candidate)');
}
