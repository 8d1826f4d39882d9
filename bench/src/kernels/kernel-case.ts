import { type BenchCase, runCase, type RunCaseOptions } from '@concord/cli/bench';

/** A kernel as PyTorch is timed with it too, by the names that both sides give it. */
export interface KernelCase {
  readonly op: string;
  readonly name: string;
  readonly benchCase: BenchCase;
}

/** A case of `run`, whose kernel has the output y. */
export function kernelCase<Row = undefined>(
  op: string,
  name: string,
  options: Omit<RunCaseOptions<Row>, 'id' | 'title'>,
): KernelCase {
  return { op, name, benchCase: runCase({ id: `${op}/${name}`, title: `${op} ${name}`, ...options }) };
}

/** The name of a shape. */
export const sizes = (...all: readonly number[]): string => all.join('x');
/** Copies have to be equal to their source. */
export const EXACT = { relative: 0, absolute: 0 } as const;
