import { NUMBERS } from '../compute/elementwise.ts';
import { rootOf } from '../compute/centred.ts';
import type { OutOption } from '../compute/produce.ts';
import {
  type Axes,
  checkRows,
  fold,
  FOLD,
  type FoldOptions,
  mapRows,
  type RowFunction,
  ROWS,
} from '../compute/rows.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link norm}. */
export interface NormOptions extends FoldOptions {
  /** 1, 2 or Infinity. Default 2. */
  readonly ord?: number;
}

const NORMS: ReadonlyMap<number, RowFunction> = new Map([
  [1, { name: 'norm', types: NUMBERS, converts: true, compute: (k, x) => k.fold('sum', k.abs(x)) }],
  [2, { name: 'norm', types: NUMBERS, converts: true, compute: (k, x) => rootOf(k, k.fold('sum', k.mul(x, x))) }],
  // Of nothing 0, as the others.
  [Infinity, { name: 'norm', types: NUMBERS, converts: true, compute: (k, x) => k.max(k.fold('max', k.abs(x)), 0) }],
] satisfies [number, RowFunction][]);

/**
 * Norm of vectors along axes: `sqrt(sum(x^2))`, with `ord` 1 `sum(|x|)`, with Infinity `max(|x|)`; of nothing 0. Of several
 * axes that of all their elements. Of integers, each converted to float32, it is f32. One launch.
 *
 * ONNX ReduceL1, ReduceL2; NumPy's and PyTorch's linalg.vector_norm.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range, another `ord`
 * @example
 * ```ts
 * const x = tensor(backend, [[3, -4], [6, 8]]);
 * await norm(x, { axis: 1 }).toArray(); // [5, 10]
 * await norm(x, { ord: 1 }).toArray(); // [21]
 * ```
 */
export function norm(x: Tensor, options: NormOptions = {}): Tensor {
  checkRows('norm', x, options, { ...FOLD, ord: 'number' });
  const op = NORMS.get(options.ord ?? 2);
  if (op === undefined) {
    throw refuse('norm', `ord of ${shapeText(x.shape)} must be 1, 2 or Infinity, got ${String(options.ord)}`);
  }
  return fold(op, x, options);
}

/** Options of {@link l2Normalize}. */
export interface L2NormalizeOptions extends OutOption {
  /** The axes of a vector. Default -1. */
  readonly axis?: Axes;
  /** The minimum divisor, so that zeros stay zeros. Default 1e-12. */
  readonly eps?: number;
}

const L2_NORMALIZE: RowFunction = {
  name: 'l2Normalize',
  params: ['eps'],
  compute: (k, x, eps) => k.div(x, k.max(k.sqrt(k.fold('sum', k.mul(x, x))), eps)),
};

/**
 * `x / max(sqrt(sum(x^2)), eps)`: vectors of length 1. One launch.
 *
 * ONNX LpNormalization with p 2; PyTorch's normalize.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not
 * @example
 * ```ts
 * await l2Normalize(tensor(backend, [[3, 4], [0, 0]])).toArray(); // [0.6, 0.8, 0, 0]
 * ```
 */
export function l2Normalize(x: Tensor, options: L2NormalizeOptions = {}): Tensor {
  checkRows('l2Normalize', x, options, { ...ROWS, eps: 'number' });
  const { axis = -1, eps = 1e-12 } = options;
  return mapRows(L2_NORMALIZE, x, axis, options, { eps });
}
