import { elementwise, type ElementFunction, NUMBERS, type TensorLike, truth } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import type { Tensor } from '../tensor/tensor.ts';

const LOGICAL_AND: ElementFunction = {
  name: 'logicalAnd',
  types: NUMBERS,
  compute: (k, a, b) => truth(k, k.and(k.ne(a, 0), k.ne(b, 0))),
};

/**
 * True where both are other than 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await logicalAnd(tensor(backend, [0, 2]), 1).toArray(); // [0, 1]
 * ```
 */
export function logicalAnd(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(LOGICAL_AND, [a, b], options, 'u8');
}

const LOGICAL_OR: ElementFunction = {
  name: 'logicalOr',
  types: NUMBERS,
  compute: (k, a, b) => truth(k, k.or(k.ne(a, 0), k.ne(b, 0))),
};

/**
 * True where one of them is other than 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await logicalOr(tensor(backend, [0, 2]), 1).toArray(); // [1, 1]
 * ```
 */
export function logicalOr(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(LOGICAL_OR, [a, b], options, 'u8');
}

const LOGICAL_XOR: ElementFunction = {
  name: 'logicalXor',
  types: NUMBERS,
  compute: (k, a, b) => truth(k, k.xor(k.ne(a, 0), k.ne(b, 0))),
};

/**
 * True where exactly one of them is other than 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await logicalXor(tensor(backend, [0, 2]), 1).toArray(); // [1, 0]
 * ```
 */
export function logicalXor(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(LOGICAL_XOR, [a, b], options, 'u8');
}

const LOGICAL_NOT: ElementFunction = { name: 'logicalNot', types: NUMBERS, compute: (k, x) => truth(k, k.eq(x, 0)) };

/**
 * True where it is 0: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a wrong `out`
 * @example
 * ```ts
 * await logicalNot(tensor(backend, [0, 2])).toArray(); // [1, 0]
 * ```
 */
export function logicalNot(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(LOGICAL_NOT, [x], options, 'u8');
}

const IS_NAN: ElementFunction = { name: 'isNan', compute: (k, x) => truth(k, k.isNan(x)) };

/**
 * True where it is NaN: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers
 * @example
 * ```ts
 * await isNan(tensor(backend, [0, NaN])).toArray(); // [0, 1]
 * ```
 */
export function isNan(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(IS_NAN, [x], options, 'u8');
}

const IS_FINITE: ElementFunction = { name: 'isFinite', compute: (k, x) => truth(k, k.isFinite(x)) };

/**
 * True where it is neither NaN nor an infinity: u8, 1 or 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers
 * @example
 * ```ts
 * await isFinite(tensor(backend, [0, -Infinity])).toArray(); // [1, 0]
 * ```
 */
export function isFinite(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(IS_FINITE, [x], options, 'u8');
}
