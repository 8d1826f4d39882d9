import type { Value } from '@concord/backend-core/kernel';
import { elementwise, type ElementFunction, INTEGERS, NUMBERS, type TensorLike } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import type { Tensor } from '../tensor/tensor.ts';

const ADD: ElementFunction = { name: 'add', types: NUMBERS, compute: (k, a, b) => k.add(a, b) };

/**
 * `a + b`. i32 and u32 wrap; i8 and u8 are computed in i32 and saturate.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await add(tensor(backend, [[1], [2]]), tensor(backend, [10, 20])).toArray(); // [11, 21, 12, 22]
 * ```
 */
export function add(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(ADD, [a, b], options);
}

const SUB: ElementFunction = { name: 'sub', types: NUMBERS, compute: (k, a, b) => k.sub(a, b) };

/**
 * `a - b`. i32 and u32 wrap; i8 and u8 are computed in i32 and saturate.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await sub(1, tensor(backend, [1, 2])).toArray(); // [0, -1]
 * ```
 */
export function sub(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(SUB, [a, b], options);
}

const MUL: ElementFunction = { name: 'mul', types: NUMBERS, compute: (k, a, b) => k.mul(a, b) };

/**
 * `a b`, element by element. i32 and u32 wrap; i8 and u8 are computed in i32 and saturate.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await mul(tensor(backend, [1, 2]), 3).toArray(); // [3, 6]
 * ```
 */
export function mul(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(MUL, [a, b], options);
}

const DIV: ElementFunction = { name: 'div', types: NUMBERS, compute: (k, a, b) => k.div(a, b) };

/**
 * `a / b`. Integers are truncated, by 0 they give 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await div(tensor(backend, [1, 3]), 2).toArray(); // [0.5, 1.5]
 * ```
 */
export function div(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(DIV, [a, b], options);
}

const REM: ElementFunction = {
  name: 'rem',
  types: INTEGERS,
  compute: (k, a, b) => k.rem(a as unknown as Value<'i32'>, b as unknown as Value<'i32'>),
};

/**
 * Remainder of the division of integers, with the sign of `a`; by 0 it is 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await rem(tensor(backend, [7, -7], [2], { dtype: 'i32' }), 3).toArray(); // [1, -1]
 * ```
 */
export function rem(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(REM, [a, b], options);
}

const POW: ElementFunction = { name: 'pow', compute: (k, a, b) => k.pow(a, b) };

/**
 * `a^b`, as C99 Annex F.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await pow(tensor(backend, [2, 3]), 2).toArray(); // [4, 9]
 * ```
 */
export function pow(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(POW, [a, b], options);
}

const ATAN2: ElementFunction = { name: 'atan2', compute: (k, y, x) => k.atan2(y, x) };

/**
 * The angle of the point `(x, y)` in radians, from `-pi` to `pi`, as C99 Annex F.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await atan2(tensor(backend, [1, 1]), tensor(backend, [1, -1])).toArray(); // [0.7854, 2.3562]
 * ```
 */
export function atan2(y: TensorLike, x: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(ATAN2, [y, x], options);
}

const MINIMUM: ElementFunction = { name: 'minimum', types: NUMBERS, compute: (k, a, b) => k.min(a, b) };

/**
 * The lesser one, element by element; NaN where either is.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await minimum(tensor(backend, [1, 5]), 3).toArray(); // [1, 3]
 * ```
 */
export function minimum(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(MINIMUM, [a, b], options);
}

const MAXIMUM: ElementFunction = { name: 'maximum', types: NUMBERS, compute: (k, a, b) => k.max(a, b) };

/**
 * The greater one, element by element; NaN where either is.
 *
 * @throws {BackendError} INVALID_ARGUMENT for shapes that do not broadcast, and kinds of numbers that differ
 * @example
 * ```ts
 * await maximum(tensor(backend, [1, 5]), 3).toArray(); // [3, 5]
 * ```
 */
export function maximum(a: TensorLike, b: TensorLike, options: OutOption = {}): Tensor {
  return elementwise(MAXIMUM, [a, b], options);
}
