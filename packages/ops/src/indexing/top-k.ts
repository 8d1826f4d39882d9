import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { launchOp } from '../compute/launches.ts';
import { allocate } from '../tensor/allocate.ts';
import { checkAxis } from '../compute/rows.ts';
import { cast } from '../elementwise/cast.ts';
import { checkOptions, checkTensor, shown as described } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { copy, pack } from '../views/pack.ts';
import { transpose } from '../views/permute.ts';
import { type Range, slice } from '../views/slice.ts';
import { places } from './sort.ts';
import { takeAlongAxis } from './take-along-axis.ts';

/** Options of {@link topK}. */
export interface TopKOptions {
  /** Default -1. */
  readonly axis?: number;
  /** False: the smallest ones. Default true. */
  readonly largest?: boolean;
}

/** The result of {@link topK}; in both tensors the axis has length `k`. */
export interface TopK {
  /** The elements, of the operand's dtype. */
  readonly values: Tensor;
  /** Places along the axis, u32. */
  readonly indices: Tensor;
}

/**
 * The k largest (or smallest) elements along an axis and where they are, sorted, the best first; of equals the lower index is
 * first. NaN ranks above Infinity. One launch; one more for what does not lie in dense float32 rows, and
 * for values of f16 and bf16. Of integers, and where `k` is beyond `backend.capabilities.limits.maxTopK`, all elements are put in order, as
 * `sort` does.
 *
 * ONNX TopK-11; PyTorch's topk.
 *
 * @param k - at most the size of the axis
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range, a `k` beyond the axis
 * @throws {BackendError} UNSUPPORTED where all are to be put in order and the backend's `run` has no `scan` and `scatter`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const { values, indices } = topK(tensor(backend, [[1, 9, 5], [7, 2, 8]]), 2);
 * await values.toArray(); // [9, 5, 8, 7]
 * await indices.toArray(); // [1, 2, 2, 0]
 * ```
 */
export function topK(x: Tensor, k: number, options: TopKOptions = {}): TopK {
  checkTensor('topK', 'x', x);
  checkOptions('topK', options, { axis: 'any', largest: 'boolean' });
  const { largest = true } = options;
  const shown = `${x.dtype}${shapeText(x.shape)}`;
  const axis = checkAxis('topK', x.shape, options.axis ?? -1);
  const columns = x.shape[axis] as number;
  if (!Number.isInteger(k) || k < 0 || k > columns) {
    throw refuse('topK', `k must be an integer from 0 to ${columns}, axis ${axis} of ${shown}, got ${described(k)}`);
  }
  const { backend } = x;
  if (ELEMENT_TYPES[x.dtype].value !== 'f32' || k > backend.capabilities.limits.maxTopK) {
    return tidy(() => {
      const ranges = x.shape.map((_, place): Range => (place === axis ? [0, k] : null));
      const indices = copy(slice(places('topK', x, axis, largest), ranges));
      return { values: takeAlongAxis(x, indices, axis), indices };
    });
  }
  return tidy(() => {
    const inRows = transpose(x, axis, -1);
    const input = pack(cast(inRows, 'f32'));
    const shape = [...inRows.shape.slice(0, -1), k];
    const values = allocate('topK', backend, shape, 'f32');
    const indices = allocate('topK', backend, shape, 'u32');
    const rows = columns === 0 ? 0 : input.size / columns;
    const call = { rows, columns, k, largest, input: input.ptr, values: values.ptr, indices: indices.ptr };
    launch('topK', [x], () => launchOp(backend, 'topK', call));
    return { values: transpose(cast(values, x.dtype), axis, -1), indices: transpose(indices, axis, -1) };
  });
}
