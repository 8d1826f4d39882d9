import { elementwise, type ElementFunction } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import { OUT, checkOptions, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

const RELU: ElementFunction = { name: 'relu', compute: (k, x) => k.max(x, 0) };

/**
 * `max(x, 0)`; NaN stays NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await relu(tensor(backend, [-1, 2])).toArray(); // [0, 2]
 * ```
 */
export function relu(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(RELU, [x], options);
}

const SIGMOID: ElementFunction = { name: 'sigmoid', compute: (k, x) => k.sigmoid(x) };

/**
 * `1 / (1 + e^-x)`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await sigmoid(tensor(backend, [0, 2])).toArray(); // [0.5, 0.8808]
 * ```
 */
export function sigmoid(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SIGMOID, [x], options);
}

const TANH: ElementFunction = { name: 'tanh', compute: (k, x) => k.tanh(x) };

/**
 * Hyperbolic tangent.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await tanh(tensor(backend, [0, 1])).toArray(); // [0, 0.7616]
 * ```
 */
export function tanh(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(TANH, [x], options);
}

const SILU: ElementFunction = { name: 'silu', compute: (k, x) => k.silu(x) };

/**
 * `x sigmoid(x)`, also called swish.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await silu(tensor(backend, [0, 2])).toArray(); // [0, 1.7616]
 * ```
 */
export function silu(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SILU, [x], options);
}

const SOFTPLUS: ElementFunction = {
  name: 'softplus',
  compute: (k, x) => k.add(k.max(x, 0), k.log1p(k.exp(k.neg(k.abs(x))))),
};

/**
 * `log(1 + e^x)`, computed as `max(x, 0) + log1p(e^-|x|)`, which overflows nowhere.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await softplus(tensor(backend, [0, 100])).toArray(); // [0.6931, 100]
 * ```
 */
export function softplus(x: Tensor, options: OutOption = {}): Tensor {
  return elementwise(SOFTPLUS, [x], options);
}

/** Options of {@link gelu}. */
export interface GeluOptions extends OutOption {
  /** `'none'`: by erf. `'tanh'`: the approximation that GPT-2 and BERT use. Default `'none'`. */
  readonly approximate?: 'none' | 'tanh';
}

const GELU: ElementFunction = { name: 'gelu', compute: (k, x) => k.gelu(x) };
const GELU_TANH: ElementFunction = { name: 'gelu', compute: (k, x) => k.geluTanh(x) };

/**
 * `x (1 + erf(x / sqrt 2)) / 2`, or with `approximate: 'tanh'` `x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2`.
 *
 * Hendrycks, Gimpel, Gaussian error linear units, 2016.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await gelu(tensor(backend, [0, 1])).toArray(); // [0, 0.8413]
 * await gelu(tensor(backend, [0, 1]), { approximate: 'tanh' }).toArray(); // [0, 0.8412]
 * ```
 */
export function gelu(x: Tensor, options: GeluOptions = {}): Tensor {
  checkOptions('gelu', options, { ...OUT, approximate: 'any' });
  const { approximate = 'none', out } = options;
  if (approximate !== 'none' && approximate !== 'tanh') {
    throw refuse('gelu', `approximate must be none or tanh, got ${shown(approximate)}`);
  }
  return elementwise(approximate === 'tanh' ? GELU_TANH : GELU, [x], { out });
}

const LEAKY_RELU: ElementFunction = {
  name: 'leakyRelu',
  compute: (k, x, slope) => k.select(k.lt(x, 0), k.mul(x, slope), x),
};

/** Options of {@link leakyRelu}. */
export interface LeakyReluOptions extends OutOption {
  /** Factor of negative numbers. Default 0.01. */
  readonly negativeSlope?: number;
}

/**
 * `x`, of negative numbers `negativeSlope x`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await leakyRelu(tensor(backend, [-2, 3]), { negativeSlope: 0.5 }).toArray(); // [-1, 3]
 * ```
 */
export function leakyRelu(x: Tensor, options: LeakyReluOptions = {}): Tensor {
  checkOptions('leakyRelu', options, { ...OUT, negativeSlope: 'number' });
  return elementwise(LEAKY_RELU, [x, options.negativeSlope ?? 0.01], { out: options.out });
}

const ELU: ElementFunction = {
  name: 'elu',
  compute: (k, x, alpha) => k.select(k.gt(x, 0), x, k.mul(alpha, k.expm1(x))),
};

/** Options of {@link elu}. */
export interface EluOptions extends OutOption {
  /** The limit for large negative numbers, times -1. Default 1. */
  readonly alpha?: number;
}

/**
 * `x`, of negative numbers `alpha (e^x - 1)`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but f32, f16 and bf16
 * @example
 * ```ts
 * await elu(tensor(backend, [-1, 3])).toArray(); // [-0.6321, 3]
 * ```
 */
export function elu(x: Tensor, options: EluOptions = {}): Tensor {
  checkOptions('elu', options, { ...OUT, alpha: 'number' });
  return elementwise(ELU, [x, options.alpha ?? 1], { out: options.out });
}
