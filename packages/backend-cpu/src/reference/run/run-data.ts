import type { Interval } from './interval.ts';

/** Elements as they lie in memory: f16 and bf16 as their bits, the others in the array of their type. */
export type StoredElements = Float32Array | Int32Array | Uint32Array | Uint16Array | Int8Array | Uint8Array;

/** The contents of the operands of a `run` before it. */
export interface RunData {
  /** For each input all elements of its extent, gaps included, in its dtype. One of no elements may be left out. */
  readonly inputs?: Readonly<Record<string, StoredElements>>;
  readonly params?: Readonly<Record<string, number>>;
  /** Inputs that are not in memory but known within bounds, one interval for each element of the domain, row-major. */
  readonly intervals?: Readonly<Record<string, readonly Interval[]>>;
}

/** The numerics that a backend declares in `capabilities.numerics` and is then held to. */
export interface RunRules {
  /** Default `may-flush`: a computed float32 under 2^-126 may be 0. */
  readonly subnormals?: 'may-flush' | 'kept';
}
