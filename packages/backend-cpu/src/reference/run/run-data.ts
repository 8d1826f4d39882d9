import type { RunLayout } from '@concord/backend-core/kernel';
import type { Interval } from './interval.ts';

/** Elements as they lie in memory: f16 and bf16 as their bits, the others in the array of their type. */
export type StoredElements = Float32Array | Int32Array | Uint32Array | Uint16Array | Int8Array | Uint8Array;

/** The contents of the operands of a `run` before it. */
export interface RunData {
  /** All elements of each input's extent, gaps included, in its dtype. One of no elements may be absent. */
  readonly inputs?: Readonly<Record<string, StoredElements>>;
  /** The same of each output that is written by index: what it holds before. */
  readonly outputs?: Readonly<Record<string, StoredElements>>;
  readonly params?: Readonly<Record<string, number>>;
  /** Inputs that are not in memory but known within bounds, one interval for each element of the domain, row-major. */
  readonly intervals?: Readonly<Record<string, readonly Interval[]>>;
}

/** The numerics that a backend declares in `capabilities.numerics` and is then held to. */
export interface RunRules {
  /** Default `may-flush`: a computed float32 under 2^-126 may be 0. */
  readonly subnormals?: 'may-flush' | 'kept';
}

/** The possibility that an element is NaN: `no`, `maybe`, `must`. */
export const NAN = { no: 0, maybe: 1, must: 2 } as const;

/**
 * The values that one output of a `run` may hold, as stored: one entry for each element of `layout.shape`, row-major, whatever the
 * strides. A right answer is NaN where `nan` lets it be, or else lies in [lo, hi].
 */
export interface OutputIntervals {
  readonly layout: RunLayout;
  /** The smallest value in the output's dtype. Infinity if there is none but NaN. */
  readonly lo: Float64Array;
  /** Greatest value in the output's dtype. -Infinity if there is none but NaN. */
  readonly hi: Float64Array;
  /** One of {@link NAN}. */
  readonly nan: Uint8Array;
  /** 1 where nothing is known: each value of the dtype is right. */
  readonly anything: Uint8Array;
  /** The bits of each copied float in the output's dtype: NaN, subnormals and the sign of zero are to be kept. */
  readonly copies: ReadonlyMap<number, number>;
  /**
   * The possible values of each integer that is one of few, such as an argmax among nearly equal ones, in ascending
   * order.
   */
  readonly choices: ReadonlyMap<number, readonly number[]>;
  /**
   * Part of the elements, 0 to 1, about which nothing useful is known: anything, or wider than 1 % of the output's
   * largest magnitude.
   */
  readonly uselessShare: number;
  /** Others that each element may hold instead: a scatter stores one of the values that are meant for it. */
  readonly or?: OutputIntervals;
}
