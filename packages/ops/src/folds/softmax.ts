import type { KernelBuilder, Value } from '@concord/backend-core/kernel';
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
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link softmax} and {@link logSoftmax}. */
export interface SoftmaxOptions extends OutOption {
  /** The axes along which the results add up to 1. Default -1. */
  readonly axis?: Axes;
}

const SOFTMAX: RowFunction = {
  name: 'softmax',
  compute: (k, x) => {
    const e = k.exp(k.sub(x, k.fold('max', x)));
    return k.div(e, k.fold('sum', e));
  },
};

/**
 * `e^(x - m) / sum(e^(x - m))` with m the greatest element of the axis, which overflows nowhere; NaN where m is
 * infinite. One launch.
 *
 * ONNX Softmax-13; of one axis PyTorch's softmax.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not
 * @example
 * ```ts
 * await softmax(tensor(backend, [[0, 0], [0, 1]])).toArray(); // [0.5, 0.5, 0.2689, 0.7311]
 * ```
 */
export function softmax(x: Tensor, options: SoftmaxOptions = {}): Tensor {
  checkRows('softmax', x, options, ROWS);
  return mapRows(SOFTMAX, x, options.axis ?? -1, options);
}

const LOG_SOFTMAX: RowFunction = {
  name: 'logSoftmax',
  compute: (k, x) => {
    const shifted = k.sub(x, k.fold('max', x));
    return k.sub(shifted, k.log(k.fold('sum', k.exp(shifted))));
  },
};

/**
 * `x - m - log(sum(e^(x - m)))` with m the greatest element of the axis: the logarithm of {@link softmax}, which does not
 * underflow. One launch.
 *
 * ONNX LogSoftmax-13; of one axis PyTorch's log_softmax.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not
 * @example
 * ```ts
 * await logSoftmax(tensor(backend, [0, 200])).toArray(); // [-200, 0]
 * ```
 */
export function logSoftmax(x: Tensor, options: SoftmaxOptions = {}): Tensor {
  checkRows('logSoftmax', x, options, ROWS);
  return mapRows(LOG_SOFTMAX, x, options.axis ?? -1, options);
}

const LOG_SUM_EXP: RowFunction = { name: 'logSumExp', compute: logSumExpOf };

/** `m + log(sum(e^(x - m)))` of a row; an m that is infinite is left out, as Infinity - Infinity is NaN. */
export function logSumExpOf(k: KernelBuilder, x: Value<'f32'>): Value<'f32'> {
  const greatest = k.fold('max', x);
  const shift = k.select(k.isFinite(greatest), greatest, 0);
  return k.add(shift, k.log(k.fold('sum', k.exp(k.sub(x, shift)))));
}

/**
 * `log(sum(e^x))` along axes, computed as `m + log(sum(e^(x - m)))` with m the greatest, which overflows nowhere; of
 * nothing and of -Infinity only -Infinity. One launch.
 *
 * ONNX ReduceLogSumExp.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not
 * @example
 * ```ts
 * await logSumExp(tensor(backend, [[0, 0], [1000, 1000]]), { axis: 1 }).toArray(); // [0.6931, 1000.6931]
 * ```
 */
export function logSumExp(x: Tensor, options: FoldOptions = {}): Tensor {
  checkRows('logSumExp', x, options, FOLD);
  return fold(LOG_SUM_EXP, x, options);
}
