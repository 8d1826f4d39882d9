import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { NUMBERS, truth } from '../compute/elementwise.ts';
import { checkRows, fold, FOLD, type FoldOptions, type RowFunction } from '../compute/rows.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** The dtype of sums of small integers: one of a thousand truths is no u8. */
export function wide({ dtype }: Tensor): DType {
  return ELEMENT_TYPES[dtype].bytes === 1 ? ELEMENT_TYPES[dtype].value : dtype;
}

function folded(op: RowFunction, x: Tensor, options: FoldOptions, dtype?: DType | typeof wide): Tensor {
  checkRows(op.name, x, options, FOLD);
  return fold(op, x, options, typeof dtype === 'function' ? dtype(x) : dtype);
}

const SUM: RowFunction = { name: 'sum', types: NUMBERS, compute: (k, x) => k.fold('sum', x) };

/**
 * Sum along axes; of nothing 0. Integers wrap at 32 bits; of i8 and u8 it is i32 and u32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await sum(tensor(backend, [[1, 2], [3, 5]]), { axis: 0 }).toArray(); // [4, 7]
 * ```
 */
export function sum(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(SUM, x, options, wide);
}

const MEAN: RowFunction = { name: 'mean', types: NUMBERS, converts: true, compute: (k, x) => k.fold('mean', x) };

/**
 * Mean along axes: finite where the elements are; of nothing NaN. Of integers, each converted to float32, it is f32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await mean(tensor(backend, [[1, 2], [3, 5]]), { axis: -1 }).toArray(); // [1.5, 4]
 * ```
 */
export function mean(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(MEAN, x, options);
}

const PROD: RowFunction = { name: 'prod', types: NUMBERS, compute: (k, x) => k.fold('product', x) };

/**
 * Product along axes; of nothing 1. Integers wrap at 32 bits; of i8 and u8 it is i32 and u32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await prod(tensor(backend, [[1, 2], [3, 5]])).toArray(); // [30]
 * ```
 */
export function prod(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(PROD, x, options, wide);
}

const MAX: RowFunction = { name: 'max', types: NUMBERS, compute: (k, x) => k.fold('max', x) };

/**
 * Greatest element along axes; NaN where one is; of nothing -Infinity.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await max(tensor(backend, [[1, 2], [3, 5]]), { axis: 1, keepDims: true }).toArray(); // [2, 5]
 * ```
 */
export function max(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(MAX, x, options);
}

const MIN: RowFunction = { name: 'min', types: NUMBERS, compute: (k, x) => k.fold('min', x) };

/**
 * The smallest element along axes; NaN where one is; of nothing Infinity.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await min(tensor(backend, [[1, 2], [3, 5]]), { axis: 1 }).toArray(); // [1, 3]
 * ```
 */
export function min(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(MIN, x, options);
}

const ARGMAX: RowFunction = { name: 'argmax', types: NUMBERS, compute: (k, x) => k.fold('argmax', x) };

/**
 * Place of the greatest element, u32, row-major in the folded axes: of the first NaN, else of the first of equals.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await argmax(tensor(backend, [[1, 2], [3, 5]]), { axis: 1 }).toArray(); // [1, 1]
 * ```
 */
export function argmax(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(ARGMAX, x, options, 'u32');
}

const ARGMIN: RowFunction = { name: 'argmin', types: NUMBERS, compute: (k, x) => k.fold('argmin', x) };

/**
 * The place of the smallest element, u32, row-major in the folded axes: of the first NaN, else of the first of equals.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await argmin(tensor(backend, [[1, 2], [3, 5]])).toArray(); // [0]
 * ```
 */
export function argmin(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(ARGMIN, x, options, 'u32');
}

const ANY: RowFunction = { name: 'any', types: NUMBERS, compute: (k, x) => truth(k, k.fold('any', k.ne(x, 0))) };

/**
 * True if an element is other than 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await any(tensor(backend, [[0, 2], [0, 0]]), { axis: 1 }).toArray(); // [1, 0]
 * ```
 */
export function any(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(ANY, x, options, 'u8');
}

const ALL: RowFunction = { name: 'all', types: NUMBERS, compute: (k, x) => truth(k, k.fold('all', k.ne(x, 0))) };

/**
 * True if all elements are other than 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await all(tensor(backend, [[1, 2], [0, 3]]), { axis: 1 }).toArray(); // [1, 0]
 * ```
 */
export function all(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(ALL, x, options, 'u8');
}

const COUNT_NONZERO: RowFunction = {
  name: 'countNonzero',
  types: NUMBERS,
  compute: (k, x) => k.fold('count', k.ne(x, 0)),
};

/**
 * The number of elements other than 0, u32.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * await countNonzero(tensor(backend, [0, 2, 3])).toArray(); // [2]
 * ```
 */
export function countNonzero(x: Tensor, options: FoldOptions = {}): Tensor {
  return folded(COUNT_NONZERO, x, options, 'u32');
}
