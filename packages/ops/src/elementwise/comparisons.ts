import { elementwise, type ElementFunction, NUMBERS, type TensorLike, truth } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import type { Tensor } from '../tensor/tensor.ts';

const EQUAL: ElementFunction = { name: 'equal', types: NUMBERS, compute: (k, a, b) => truth(k, k.eq(a, b)) };

/**
 * True where `a = b`, element by element: u8, 1 or 0. False with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await equal(tensor(backend, [1, 2, 3]), 2).toArray(); // [0, 1, 0]
 * ```
 */
export function equal(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(EQUAL, [a, b], options, 'u8');
}

const NOT_EQUAL: ElementFunction = { name: 'notEqual', types: NUMBERS, compute: (k, a, b) => truth(k, k.ne(a, b)) };

/**
 * True where `a` and `b` differ, element by element: u8, 1 or 0. True with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await notEqual(tensor(backend, [1, 2, 3]), 2).toArray(); // [1, 0, 1]
 * ```
 */
export function notEqual(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(NOT_EQUAL, [a, b], options, 'u8');
}

const LESS: ElementFunction = { name: 'less', types: NUMBERS, compute: (k, a, b) => truth(k, k.lt(a, b)) };

/**
 * True where `a < b`, element by element: u8, 1 or 0. False with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await less(tensor(backend, [1, 2, 3]), 2).toArray(); // [1, 0, 0]
 * ```
 */
export function less(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(LESS, [a, b], options, 'u8');
}

const LESS_EQUAL: ElementFunction = { name: 'lessEqual', types: NUMBERS, compute: (k, a, b) => truth(k, k.le(a, b)) };

/**
 * True where `a <= b`, element by element: u8, 1 or 0. False with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await lessEqual(tensor(backend, [1, 2, 3]), 2).toArray(); // [1, 1, 0]
 * ```
 */
export function lessEqual(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(LESS_EQUAL, [a, b], options, 'u8');
}

const GREATER: ElementFunction = { name: 'greater', types: NUMBERS, compute: (k, a, b) => truth(k, k.gt(a, b)) };

/**
 * True where `a > b`, element by element: u8, 1 or 0. False with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await greater(tensor(backend, [1, 2, 3]), 2).toArray(); // [0, 0, 1]
 * ```
 */
export function greater(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(GREATER, [a, b], options, 'u8');
}

const GREATER_EQUAL: ElementFunction = {
  name: 'greaterEqual',
  types: NUMBERS,
  compute: (k, a, b) => truth(k, k.ge(a, b)),
};

/**
 * True where `a >= b`, element by element: u8, 1 or 0. False with NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await greaterEqual(tensor(backend, [1, 2, 3]), 2).toArray(); // [0, 1, 1]
 * ```
 */
export function greaterEqual(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(GREATER_EQUAL, [a, b], options, 'u8');
}
