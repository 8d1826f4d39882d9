import { elementwise, type ElementFunction } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import type { Tensor } from '../tensor/tensor.ts';

const EXP: ElementFunction = { name: 'exp', compute: (k, x) => k.exp(x) };

/**
 * `e^x`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await exp(tensor(backend, [0, 1])).toArray(); // [1, 2.7183]
 * ```
 */
export function exp(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(EXP, [x], options);
}

const EXP2: ElementFunction = { name: 'exp2', compute: (k, x) => k.exp2(x) };

/**
 * `2^x`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await exp2(tensor(backend, [3, -1])).toArray(); // [8, 0.5]
 * ```
 */
export function exp2(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(EXP2, [x], options);
}

const EXPM1: ElementFunction = { name: 'expm1', compute: (k, x) => k.expm1(x) };

/**
 * `e^x - 1`, accurate near 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await expm1(tensor(backend, [0, 1])).toArray(); // [0, 1.7183]
 * ```
 */
export function expm1(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(EXPM1, [x], options);
}

const LOG: ElementFunction = { name: 'log', compute: (k, x) => k.log(x) };

/**
 * Natural logarithm; of a negative number NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await log(tensor(backend, [1, 10])).toArray(); // [0, 2.3026]
 * ```
 */
export function log(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(LOG, [x], options);
}

const LOG2: ElementFunction = { name: 'log2', compute: (k, x) => k.log2(x) };

/**
 * Logarithm to base 2; of a negative number NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await log2(tensor(backend, [8, 0.5])).toArray(); // [3, -1]
 * ```
 */
export function log2(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(LOG2, [x], options);
}

const LOG1P: ElementFunction = { name: 'log1p', compute: (k, x) => k.log1p(x) };

/**
 * `log(1 + x)`, accurate near 0.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await log1p(tensor(backend, [0, 1])).toArray(); // [0, 0.6931]
 * ```
 */
export function log1p(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(LOG1P, [x], options);
}

const SQRT: ElementFunction = { name: 'sqrt', compute: (k, x) => k.sqrt(x) };

/**
 * Square root; of a negative number NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await sqrt(tensor(backend, [4, 2])).toArray(); // [2, 1.4142]
 * ```
 */
export function sqrt(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SQRT, [x], options);
}

const RSQRT: ElementFunction = { name: 'rsqrt', compute: (k, x) => k.rsqrt(x) };

/**
 * `1 / sqrt(x)`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await rsqrt(tensor(backend, [4, 0.25])).toArray(); // [0.5, 2]
 * ```
 */
export function rsqrt(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(RSQRT, [x], options);
}

const RECIPROCAL: ElementFunction = { name: 'reciprocal', compute: (k, x) => k.div(1, x) };

/**
 * `1 / x`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await reciprocal(tensor(backend, [4, -0.5])).toArray(); // [0.25, -2]
 * ```
 */
export function reciprocal(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(RECIPROCAL, [x], options);
}

const SQUARE: ElementFunction = { name: 'square', compute: (k, x) => k.mul(x, x) };

/**
 * `x^2`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await square(tensor(backend, [3, -2])).toArray(); // [9, 4]
 * ```
 */
export function square(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SQUARE, [x], options);
}

const SIN: ElementFunction = { name: 'sin', compute: (k, x) => k.sin(x) };

/**
 * Sine of radians.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await sin(tensor(backend, [0, 1])).toArray(); // [0, 0.8415]
 * ```
 */
export function sin(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SIN, [x], options);
}

const COS: ElementFunction = { name: 'cos', compute: (k, x) => k.cos(x) };

/**
 * Cosine of radians.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await cos(tensor(backend, [0, 1])).toArray(); // [1, 0.5403]
 * ```
 */
export function cos(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(COS, [x], options);
}

const ATAN: ElementFunction = { name: 'atan', compute: (k, x) => k.atan2(x, 1) };

/**
 * The angle in radians, from `-pi / 2` to `pi / 2`, whose tangent is x.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await atan(tensor(backend, [0, 1])).toArray(); // [0, 0.7854]
 * ```
 */
export function atan(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ATAN, [x], options);
}

const ASIN: ElementFunction = {
  name: 'asin',
  // Near 1 the difference is exact: nothing is lost in it, as there would be in 1 - x x.
  compute: (k, x) => k.atan2(x, k.sqrt(k.mul(k.sub(1, x), k.add(1, x)))),
};

/**
 * The angle in radians, from `-pi / 2` to `pi / 2`, whose sine is x; NaN outside of -1 to 1.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await asin(tensor(backend, [0, 1])).toArray(); // [0, 1.5708]
 * ```
 */
export function asin(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ASIN, [x], options);
}

const ACOS: ElementFunction = {
  name: 'acos',
  // Of half the angle, which needs no sign of a zero: of sqrt(1 - x x) and x it would be that of the axis where angles jump.
  compute: (k, x) => k.mul(2, k.atan2(k.sqrt(k.sub(1, x)), k.sqrt(k.add(1, x)))),
};

/**
 * The angle in radians, from 0 to `pi`, whose cosine is x; NaN outside of -1 to 1.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await acos(tensor(backend, [1, 0])).toArray(); // [0, 1.5708]
 * ```
 */
export function acos(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ACOS, [x], options);
}

const ERF: ElementFunction = { name: 'erf', compute: (k, x) => k.erf(x) };

/**
 * Error function: `2 / sqrt(pi)` times the integral of `e^(-t^2)` from 0 to x.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await erf(tensor(backend, [0, 1])).toArray(); // [0, 0.8427]
 * ```
 */
export function erf(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(ERF, [x], options);
}
