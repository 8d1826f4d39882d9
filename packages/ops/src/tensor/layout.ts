import type { DType } from '@concord/backend-core';

/** Bytes per element. */
export const BYTES_OF: Readonly<Record<DType, number>> = { f32: 4, f16: 2, bf16: 2, i32: 4, u32: 4, i8: 1, u8: 1 };

/** Where the elements of a tensor lie in its storage. */
export interface Layout {
  readonly shape: readonly number[];
  /** Elements from one index of an axis to the next; 0 repeats. */
  readonly strides: readonly number[];
  readonly dtype: DType;
  /** Elements before the first one. */
  readonly offset: number;
}
