import type { ResolvedRun } from '@concord/backend-core/implement';
import { NaiveBackend, type Parts, RIGHT } from '../../naive/parts.ts';
import type { Mutant } from '../mutant.ts';

/** Parts with a bug, made anew for each backend object: some remember. */
export type Bug = () => Partial<Parts>;

/** Bugs of `run` in one of its parts. */
export function partMutants(bugs: Readonly<Record<string, Bug>>, within?: RegExp): Mutant[] {
  return Object.entries(bugs).map(([name, bug]) => ({
    ...{ name: `run: ${name}`, ops: ['run'] as const },
    wrap: () => new NaiveBackend({ ...RIGHT, ...bug() }),
    ...(within === undefined ? {} : { within }),
  }));
}

/** Bugs of what `run` is told, made anew for each backend object. */
export function callMutants(
  bugs: Readonly<Record<string, () => (call: ResolvedRun<ArrayBuffer>) => ResolvedRun<ArrayBuffer>>>,
): Mutant[] {
  return Object.entries(bugs).map(([name, bug]) => ({
    ...{ name: `run: ${name}`, ops: ['run'] as const },
    wrap: () => new NaiveBackend(RIGHT, bug()),
  }));
}
