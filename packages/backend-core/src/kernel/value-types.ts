import type { DType } from '../contract/capabilities.ts';

/** Type of a value inside a kernel. `bool` cannot be stored. */
export type ValueType = 'f32' | 'i32' | 'u32' | 'bool';

/** Type of a number inside a kernel, and of what an input, an output or a parameter holds. */
export type NumberType = 'f32' | 'i32' | 'u32';

/**
 * The number of times that a value exists: `call` once, `row` once for each point of the axes that are not folded, `element` once for
 * each point of the domain.
 */
export type Level = 'call' | 'row' | 'element';

/** Element types that an input or output of a type may have in memory; the first is the default. */
export const STORAGE_DTYPES: Readonly<Record<NumberType, readonly [NumberType, ...DType[]]>> = {
  f32: ['f32', 'f16', 'bf16'],
  i32: ['i32', 'i8'],
  u32: ['u32', 'u8'],
};
