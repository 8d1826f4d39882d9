import { checkOptions, checkTensors } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { squeeze, unsqueeze } from '../views/expand.ts';
import { sidesOf } from './conv1d.ts';
import { CONVOLUTION_OPTIONS, type ConvOptions, convolve } from './conv2d.ts';
import type { Pair, Sides } from './window.ts';

/** Options of {@link convTranspose2d}. */
export interface ConvTranspose2dOptions extends ConvOptions {
  /** Default 1. */
  readonly stride?: Pair;
  /** Cropped from the result at its sides. Default 0. */
  readonly padding?: Exclude<Sides, 'same'>;
  /** Distance of the elements that a filter adds to. Default 1. */
  readonly dilation?: Pair;
  /** Added to the result at the bottom and right; less than the greater of stride and dilation. Default 0. */
  readonly outputPadding?: Pair;
}

/** Options of {@link convTranspose1d}. */
export interface ConvTranspose1dOptions extends ConvOptions {
  /** Default 1. */
  readonly stride?: number;
  /** Cropped from the result at both ends, or at each. Default 0. */
  readonly padding?: number | readonly [left: number, right: number];
  /** Distance of the elements that a filter adds to. Default 1. */
  readonly dilation?: number;
  /** Added to the result at the end; less than the greater of stride and dilation. Default 0. */
  readonly outputPadding?: number;
}

/**
 * The transposed convolution, with `activation(... + bias) + residual` in one, as conv_transpose2d of PyTorch and ConvTranspose
 * of ONNX: each element of `x`, `[n, c, h, w]`, adds its filter, times the element, to the result, `stride` apart. `w` is
 * `[c, k / groups, r, s]`, the result `[n, k, p, q]` with `p = (h - 1) stride - top - bottom + dilation (r - 1) +
 * outputPadding + 1`. f32, or f16 with sums in float32. Views of `x` and `w` that are not dense are copied.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} UNSUPPORTED where `capabilities.features` of the backend has no `transposed` convolution
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2]]]]);
 * const w = tensor(backend, [[[[1, 10, 100]]]]);
 * await convTranspose2d(x, w, { stride: [1, 2] }).toArray(); // [1, 10, 102, 20, 200]
 * await convTranspose2d(x, w, { stride: [1, 2], padding: [0, 1] }).toArray(); // [10, 102, 20]
 * ```
 */
export function convTranspose2d(x: Tensor, w: Tensor, options: ConvTranspose2dOptions = {}): Tensor {
  checkTransposed('convTranspose2d', x, w, options);
  return convolve('convTranspose2d', x, w, options, options.outputPadding ?? 0);
}

/**
 * {@link convTranspose2d} of one axis: `x` is `[n, c, l]`, `w` `[c, k / groups, s]`, the result `[n, k, q]`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} UNSUPPORTED where `capabilities.features` of the backend has no `transposed` convolution
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[1, 2]]]);
 * const w = tensor(backend, [[[1, 10, 100]]]);
 * await convTranspose1d(x, w).toArray(); // [1, 12, 120, 200]
 * ```
 */
export function convTranspose1d(x: Tensor, w: Tensor, options: ConvTranspose1dOptions = {}): Tensor {
  checkTransposed('convTranspose1d', x, w, options);
  const { stride = 1, padding = 0, dilation = 1, outputPadding = 0, residual, out } = options;
  if (x.rank !== 3 || w.rank !== 3) {
    const form = 'x is [n, c, l], w [c, k / groups, s]';
    throw refuse('convTranspose1d', `x ${shapeText(x.shape)} does not fit w ${shapeText(w.shape)}: ${form}`);
  }
  return tidy(() => {
    const own = {
      ...options,
      stride: [1, stride] as const,
      padding: sidesOf(padding),
      dilation: [1, dilation] as const,
      residual: residual === undefined || residual.rank === 0 ? residual : unsqueeze(residual, -2),
      out: out?.rank === 3 ? unsqueeze(out, 2) : out,
    };
    const result = convolve('convTranspose1d', unsqueeze(x, 2), unsqueeze(w, 2), own, [0, outputPadding]);
    return out ?? squeeze(result, 2);
  });
}

function checkTransposed(op: string, x: Tensor, w: Tensor, options: { readonly padding?: unknown }): void {
  checkTensors(op, { x, w });
  checkOptions(op, options, { ...CONVOLUTION_OPTIONS, outputPadding: 'any' });
  if (options.padding === 'same') throw refuse(op, 'padding same has no one meaning here: give the sides');
}
