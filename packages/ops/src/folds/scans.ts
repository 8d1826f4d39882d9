import type { DType } from '@concord/backend-core';
import type { ScanOp } from '@concord/backend-core/kernel';
import { NUMBERS } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import { checkRows, mapRows, type RowFunction, ROWS } from '../compute/rows.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { wide } from './folds.ts';

/** Options of the functions that go on from element to element. */
export interface ScanOptions extends OutOption {
  /** Default -1. */
  readonly axis?: number;
  /** True: of the elements before, without the element itself. Default false. */
  readonly exclusive?: boolean;
  /** True: from the end of the axis to the element. Default false. */
  readonly reverse?: boolean;
}

/** The four variants of a scan, at the index `2 exclusive + reverse`. */
function variantsOf(name: string, op: ScanOp): readonly RowFunction[] {
  return [0, 1, 2, 3].map((variant) => ({
    ...{ name, types: NUMBERS },
    compute: (k, x) => k.scan(op, x, { exclusive: variant >= 2, reverse: variant % 2 === 1 }),
  }));
}

function scanned(
  variants: readonly RowFunction[],
  x: Tensor,
  options: ScanOptions,
  dtypeOf?: (x: Tensor) => DType,
): Tensor {
  const [op] = variants as [RowFunction];
  checkRows(op.name, x, options, { ...ROWS, exclusive: 'boolean', reverse: 'boolean' });
  const { axis = -1, exclusive = false, reverse = false } = options;
  const variant = variants[2 * Number(exclusive) + Number(reverse)] as RowFunction;
  return mapRows(variant, x, axis, options, {}, dtypeOf?.(x));
}

const CUMSUM = variantsOf('cumsum', 'sum');

/**
 * Running sums along an axis: at each element the sum of those up to it. Integers wrap at 32 bits; of i8 and u8 it is i32 and u32.
 *
 * NumPy's cumsum of one axis; ONNX CumSum.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @throws {BackendError} UNSUPPORTED where the backend's `run` has no `scan`
 * @example
 * ```ts
 * await cumsum(tensor(backend, [[1, 2], [3, 5]])).toArray(); // [1, 3, 3, 8]
 * await cumsum(tensor(backend, [1, 2, 3]), { exclusive: true }).toArray(); // [0, 1, 3]
 * ```
 */
export function cumsum(x: Tensor, options: ScanOptions = {}): Tensor {
  return scanned(CUMSUM, x, options, wide);
}

const CUMPROD = variantsOf('cumprod', 'product');

/**
 * Running products along an axis. Integers wrap at 32 bits; of i8 and u8 it is i32 and u32.
 *
 * @throws {BackendError} as {@link cumsum}
 * @example
 * ```ts
 * await cumprod(tensor(backend, [2, 3, 4])).toArray(); // [2, 6, 24]
 * ```
 */
export function cumprod(x: Tensor, options: ScanOptions = {}): Tensor {
  return scanned(CUMPROD, x, options, wide);
}

const CUMMAX = variantsOf('cummax', 'max');

/**
 * Running maxima along an axis: from the first NaN on NaN. With `exclusive` the first one is -Infinity, or of integers the smallest of 32
 * bits.
 *
 * @throws {BackendError} as {@link cumsum}
 * @example
 * ```ts
 * await cummax(tensor(backend, [1, 3, 2])).toArray(); // [1, 3, 3]
 * ```
 */
export function cummax(x: Tensor, options: ScanOptions = {}): Tensor {
  return scanned(CUMMAX, x, options);
}

const CUMMIN = variantsOf('cummin', 'min');

/**
 * Running minima along an axis: from the first NaN on NaN. With `exclusive` the first one is Infinity, or of integers the largest of 32
 * bits.
 *
 * @throws {BackendError} as {@link cumsum}
 * @example
 * ```ts
 * await cummin(tensor(backend, [2, 3, 1]), { reverse: true }).toArray(); // [1, 1, 1]
 * ```
 */
export function cummin(x: Tensor, options: ScanOptions = {}): Tensor {
  return scanned(CUMMIN, x, options);
}
