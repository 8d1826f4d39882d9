import { elementwise, type ElementFunction, NUMBERS } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import type { Tensor } from '../tensor/tensor.ts';

const FLOOR: ElementFunction = { name: 'floor', compute: (k, x) => k.floor(x) };

/**
 * The greatest integer that is not above x.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await floor(tensor(backend, [1.5, -1.5])).toArray(); // [1, -2]
 * ```
 */
export function floor(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(FLOOR, [x], options);
}

const CEIL: ElementFunction = { name: 'ceil', compute: (k, x) => k.ceil(x) };

/**
 * The smallest integer that is not below x.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await ceil(tensor(backend, [1.5, -1.5])).toArray(); // [2, -1]
 * ```
 */
export function ceil(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(CEIL, [x], options);
}

const ROUND: ElementFunction = { name: 'round', compute: (k, x) => k.round(x) };

/**
 * The nearest integer, of two the even one.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await round(tensor(backend, [0.5, 1.5, -1.7])).toArray(); // [0, 2, -2]
 * ```
 */
export function round(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ROUND, [x], options);
}

const TRUNC: ElementFunction = { name: 'trunc', compute: (k, x) => k.trunc(x) };

/**
 * Towards zero.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await trunc(tensor(backend, [1.5, -1.5])).toArray(); // [1, -1]
 * ```
 */
export function trunc(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(TRUNC, [x], options);
}

const SIGN: ElementFunction = { name: 'sign', compute: (k, x) => k.sign(x) };

/**
 * -1, 0 or 1; NaN of NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await sign(tensor(backend, [-3, 0, 2])).toArray(); // [-1, 0, 1]
 * ```
 */
export function sign(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SIGN, [x], options);
}

const ABS: ElementFunction = { name: 'abs', types: NUMBERS, compute: (k, x) => k.abs(x) };

/**
 * `|x|`; of the i32 -2^31 itself.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a wrong `out`
 * @example
 * ```ts
 * await abs(tensor(backend, [-3, 2])).toArray(); // [3, 2]
 * ```
 */
export function abs(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ABS, [x], options);
}

const NEG: ElementFunction = { name: 'neg', types: NUMBERS, compute: (k, x) => k.neg(x) };

/**
 * `-x`; i32 and u32 wrap; i8 and u8 are computed in i32 and saturate, so of u8 it is 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a wrong `out`
 * @example
 * ```ts
 * await neg(tensor(backend, [-3, 2])).toArray(); // [3, -2]
 * ```
 */
export function neg(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(NEG, [x], options);
}
