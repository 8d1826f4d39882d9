import { type DType, DTYPES, ELEMENT_TYPES } from '../contract/element-types.ts';

/** Type of a value inside a kernel. `bool` cannot be stored. */
export type ValueType = 'f32' | 'i32' | 'u32' | 'bool';

/** Type of a number inside a kernel, and of the values of an input, an output or a parameter. */
export type NumberType = 'f32' | 'i32' | 'u32';

/**
 * The number of times that a value exists: `call` once, `row` once for each point of the axes that are not folded, `element` once for
 * each point of the domain.
 */
export type Level = 'call' | 'row' | 'element';

const storedAs = <T extends NumberType>(type: T): readonly [T, ...DType[]] => [
  type,
  ...DTYPES.filter((dtype) => dtype !== type && ELEMENT_TYPES[dtype].value === type),
];

/** Element types that an input or output of a type may have in memory; the first is the default. */
export const STORAGE_DTYPES: Readonly<Record<NumberType, readonly [NumberType, ...DType[]]>> = {
  f32: storedAs('f32'),
  i32: storedAs('i32'),
  u32: storedAs('u32'),
};
