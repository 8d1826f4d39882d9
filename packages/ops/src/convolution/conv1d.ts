import { refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { squeeze, unsqueeze } from '../views/expand.ts';
import { checkConvolution, type ConvOptions, convolve } from './conv2d.ts';
import type { Sides } from './window.ts';

/** Options of {@link conv1d}. */
export interface Conv1dOptions extends ConvOptions {
  /** Default 1. */
  readonly stride?: number;
  /** Zeros at both ends, or at each; `'same'` and `'valid'` as of {@link conv2d}. Default 0. */
  readonly padding?: number | readonly [left: number, right: number] | 'same' | 'valid';
  /** Distance of the elements that a filter takes. Default 1. */
  readonly dilation?: number;
}

/**
 * {@link conv2d} of one axis, as conv1d of PyTorch: `x` is `[n, c, l]`, `w` `[k, c / groups, s]`, the result `[n, k, q]`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[1, 2, 4, 8]]]);
 * const w = tensor(backend, [[[-1, 1]]]);
 * await conv1d(x, w).toArray(); // [1, 2, 4]
 * await conv1d(x, w, { padding: [1, 0] }).toArray(); // [1, 1, 2, 4]
 * ```
 */
export function conv1d(x: Tensor, w: Tensor, options: Conv1dOptions = {}): Tensor {
  checkConvolution('conv1d', x, w, options);
  const { stride = 1, padding = 0, dilation = 1, residual, out } = options;
  if (x.rank !== 3 || w.rank !== 3) {
    const form = 'x is [n, c, l], w [k, c / groups, s]';
    throw refuse('conv1d', `x ${shapeText(x.shape)} does not fit w ${shapeText(w.shape)}: ${form}`);
  }
  return tidy(() => {
    const result = convolve('conv1d', unsqueeze(x, 2), unsqueeze(w, 2), {
      ...options,
      stride: [1, stride],
      padding: sidesOf(padding),
      dilation: [1, dilation],
      residual: residual === undefined || residual.rank === 0 ? residual : unsqueeze(residual, -2),
      out: out?.rank === 3 ? unsqueeze(out, 2) : out,
    });
    return out ?? squeeze(result, 2);
  });
}

/** The padding of an image of one row. */
export function sidesOf(padding: NonNullable<Conv1dOptions['padding']>): Sides {
  if (typeof padding === 'string') return padding;
  if (typeof padding === 'number') return [0, padding];
  // Of what is no pair too, for the check of a convolution of two axes to refuse.
  return Array.isArray(padding) ? [0, padding[0], 0, padding[1]] : padding;
}
