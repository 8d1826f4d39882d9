import type { Case, Work } from './work.ts';

/** A work made ready by a peer: inputs converted to its own types, compiled, warmed as it likes. */
export interface Prepared {
  /** Does the work once, or queues it where there is a `wait`. Runs and the one wait after them are timed. */
  run(): void;
  /** Resolves when everything that was queued is done. */
  wait?(): Promise<void>;
  /** The result of the last run, packed and row-major. Comes after a `wait`. */
  result(): Promise<ArrayLike<number>>;
  close?(): Promise<void>;
}

/** Another implementation, or ours. */
export interface Peer {
  readonly name: string;
  /** Package and version, or what it is. */
  readonly version: string;
  /** What the comparison should be read with, if anything. */
  readonly remark?: string;
  readonly ops: readonly Work['op'][];
  prepare(work: Work): Promise<Prepared>;
}

/** Only the works that a peer's `ops` name reach it. */
export function unexpected(work: Work): never {
  throw new Error(`asked for ${work.op}, which this peer does not have`);
}

/** What became of a peer in a case. */
export interface Outcome {
  readonly case: Case;
  readonly peer: Peer;
  /** Seconds per run, one per round, unless it failed. */
  readonly seconds: readonly number[];
  /** Why there are no times. */
  readonly failure?: string;
}
