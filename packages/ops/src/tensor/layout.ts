import type { DType } from '@concord/backend-core';

/** Where the elements of a tensor lie in its storage. */
export interface Layout {
  readonly shape: readonly number[];
  /** Elements from one index of an axis to the next; 0 repeats. */
  readonly strides: readonly number[];
  readonly dtype: DType;
  /** Elements before the first one. */
  readonly offset: number;
}
