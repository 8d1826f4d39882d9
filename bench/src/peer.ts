import type { ByOp, LimitCase, Work } from './limits/cases.ts';

/** A case made ready: inputs converted to the contestant's own types, compiled, warmed as it likes. */
export interface Prepared {
  /** Does the work once, or queues it if there is a `wait`. Runs and the one wait after them are timed. */
  run(): void;
  /** Resolves when everything that was queued is done. */
  wait?(): Promise<void>;
  /** Before each round, not timed. */
  resume?(): Promise<void>;
  /** These entries of the last result, packed and row-major. Comes after a `wait`. */
  entries(indices: readonly number[]): Promise<readonly number[]>;
  close?(): Promise<void>;
}

/**
 * The role of a contestant: ours, ours with an option that is not the default, another implementation, or a limit for all, such as
 * the library of the device's vendor.
 */
export type Role = 'ours' | 'option' | 'peer' | 'limit';

/** One of those that are timed. */
export interface Peer {
  readonly name: string;
  readonly role: Role;
  /** Package and version, or a description. */
  readonly version: string;
  /** To be read with its figures. */
  readonly remark?: string;
  /**
   * Comes after all cases of the others, as it slows all contestants in its process from its first case on: WebAssembly whose
   * memory grows detaches an array, after which V8 checks every access to any.
   */
  readonly runsLast?: boolean;
  /** @throws {NotOffered} where it has nothing for this work */
  prepare(limitCase: LimitCase): Promise<Prepared>;
  /** After the last case. */
  close?(): Promise<void>;
}

/** A contestant has nothing for a work, which says nothing against it. */
export class NotOffered extends Error {}

/** What a table has for a work. @throws {NotOffered} where it has nothing for its op */
export function offered<T>(table: Partial<ByOp<T>>, work: Work): T {
  const make = table[work.op] as ((work: Work) => T) | undefined;
  return make === undefined ? notOffered(work) : make(work);
}

/** @throws {NotOffered} always */
export function notOffered({ op }: Work, why = ''): never {
  throw new NotOffered(why === '' ? `has no ${op}` : why);
}

/** The entries at these indices of a whole result. @throws {Error} where it has another length */
export function pick(
  result: ArrayLike<number>,
  { outputLength: length }: LimitCase,
  indices: readonly number[],
): number[] {
  if (result.length !== length) throw new Error(`wrong result: ${result.length} entries instead of ${length}`);
  return indices.map((index) => result[index] as number);
}
