import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { defineKernel, type Kernel, type NumberType, type ScatterMode, type Value } from '@concord/backend-core/kernel';
import { launchKernel } from '../compute/launches.ts';
import { copyElements } from '../compute/copy.ts';
import { placeOver } from '../compute/elementwise.ts';
import { Kernels } from '../compute/kernels.ts';
import { checkSameBackend, type OutOption, produce } from '../compute/produce.ts';
import { checkAxis } from '../compute/rows.ts';
import { OUT, checkOptions, checkTensors, shown } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { tidy } from '../tensor/scope.ts';
import { broadcastShapes, sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { reshape } from '../views/reshape.ts';
import { segmentSums } from './segment-sums.ts';

/** Axes of an output that is written by index, at most. */
const MAX_AXES = 4;

/** Options of {@link scatterAdd}. */
export interface ScatterAddOptions extends OutOption {
  /** Sorts the values first, so that their sums have the same bits each time. Takes memory for several copies of them. Default false. */
  readonly deterministic?: boolean;
}

/** Options of {@link indexPut}. */
export interface IndexPutOptions extends OutOption {
  /** Adds the values to the elements that are there. Default: they replace them. */
  readonly accumulate?: boolean;
}

/**
 * A copy of `x` in which `y[i, indices[i, j, k], k] = values[i, j, k]` with `axis` 1, and so for any other. Of several values for one
 * element one is stored, which one is unspecified. Outside of the axis, where negative indices are too, nothing is stored.
 *
 * `values` and `indices` have the same shape, with as many axes as `x`, four at most, and but for `axis` none longer than its.
 * With `out: x` nothing is copied.
 *
 * PyTorch's scatter; ONNX ScatterElements.
 *
 * @throws {BackendError} INVALID_ARGUMENT for indices that are not integers, values of another kind, shapes that do not fit, an axis that
 *   there is not
 * @throws {BackendError} UNSUPPORTED where the backend's `run` has no `scatter`
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const indices = tensor(backend, [2, 0], [1, 2], { dtype: 'i32' });
 * await scatter(tensor(backend, [[1, 2, 3]]), -1, indices, tensor(backend, [[7, 8]])).toArray(); // [8, 2, 7]
 * ```
 */
export function scatter(x: Tensor, axis: number, indices: Tensor, values: Tensor, options: OutOption = {}): Tensor {
  return alongAxis('scatter', 'set', x, axis, indices, values, options);
}

/**
 * A copy of `x` to which `values` are added by index, as {@link scatter} stores them. Float sums need not have the same bits twice.
 * Each sum of one more value is stored as its type stores: f16 and bf16 round, i8 and u8 saturate, so that the result may depend on
 * the order; i32 and u32 wrap around.
 *
 * With `deterministic` the same operands give the same bits again on the same device: the values of an index are sorted, added up in
 * 32 bits and stored once.
 *
 * PyTorch's scatter_add.
 *
 * @throws {BackendError} as {@link scatter}
 * @throws {BackendError} UNSUPPORTED where the backend's `run` has no `scan` either, with `deterministic`
 * @example
 * ```ts
 * const indices = tensor(backend, [1, 1], [2], { dtype: 'i32' });
 * await scatterAdd(tensor(backend, [1, 2, 3]), 0, indices, tensor(backend, [10, 20])).toArray(); // [1, 32, 3]
 * ```
 */
export function scatterAdd(
  x: Tensor,
  axis: number,
  indices: Tensor,
  values: Tensor,
  options: ScatterAddOptions = {},
): Tensor {
  return alongAxis('scatterAdd', 'add', x, axis, indices, values, options);
}

/**
 * A copy of `x` in which `y[indices[0], indices[1], ...] = values`: the tensors of `indices` broadcast and name places along the first
 * axes, `values` has their shape and then the other axes of `x`. Duplicates and indices outside are as in
 * {@link scatter}, and `x` has at most four axes. With `out: x` nothing is copied.
 *
 * PyTorch's index_put; ONNX ScatterND.
 *
 * @throws {BackendError} as {@link scatter}
 * @example
 * ```ts
 * const rows = tensor(backend, [1], [1], { dtype: 'i32' });
 * await indexPut(tensor(backend, [[1, 2], [3, 4]]), [rows], tensor(backend, [[7, 8]])).toArray(); // [1, 2, 7, 8]
 * ```
 */
export function indexPut(x: Tensor, indices: readonly Tensor[], values: Tensor, options: IndexPutOptions = {}): Tensor {
  const op = 'indexPut';
  checkOptions(op, options, { ...OUT, accumulate: 'boolean' });
  if (!Array.isArray(indices)) throw refuse(op, `takes a list of tensors as indices, got ${shown(indices)}`);
  checkTensors(op, { x, values, ...Object.fromEntries(indices.map((each, at) => [`indices[${at}]`, each])) });
  let named: readonly number[] | undefined = [];
  for (const { shape } of indices) named = named === undefined ? undefined : broadcastShapes(named, shape);
  const others = x.shape.slice(indices.length);
  const wanted = named === undefined ? undefined : [...named, ...others];
  if (wanted === undefined || indices.length === 0 || indices.length > x.rank || !sameShape(values.shape, wanted)) {
    const shown = indices.map((each) => shapeText(each.shape)).join(', ');
    throw refuse(op, `indices ${shown} and values ${shapeText(values.shape)} do not fit ${shapeText(x.shape)}`);
  }
  const before = wanted.length - others.length;
  const places = x.shape.map((_, axis) => (axis < indices.length ? 'index' : before + axis - indices.length));
  return tidy(() => {
    const spread = indices.map((each) => reshape(each, [...each.shape, ...others.map(() => 1)]));
    return store(op, options.accumulate === true ? 'add' : 'set', x, places, spread, values, options.out);
  });
}

function alongAxis(
  op: string,
  mode: ScatterMode,
  x: Tensor,
  axis: number,
  indices: Tensor,
  values: Tensor,
  options: ScatterAddOptions,
): Tensor {
  checkTensors(op, { x, indices, values });
  checkOptions(op, options, mode === 'add' ? { ...OUT, deterministic: 'boolean' } : OUT);
  const own = checkAxis(op, x.shape, axis);
  const { shape } = values;
  const fits = shape.every((size, place) => place === own || size <= (x.shape[place] as number));
  if (!sameShape(shape, indices.shape) || shape.length !== x.rank || !fits) {
    const given = `indices ${shapeText(indices.shape)} and values ${shapeText(shape)}`;
    throw refuse(op, `${given} do not fit ${shapeText(x.shape)} along axis ${own}`);
  }
  const places = x.shape.map((_, place) => (place === own ? 'index' : place));
  // Sums that wrap around have the same bits in any order.
  const isSorted = options.deterministic === true && x.dtype !== 'i32' && x.dtype !== 'u32';
  if (!isSorted) return store(op, mode, x, places, [indices], values, options.out);
  checkKinds(op, x, [indices], values);
  return tidy(() => {
    const { indices: last, sums } = segmentSums(op, indices, values, own);
    return store(op, mode, x, places, [last], sums, options.out);
  });
}

/**
 * The source of the index along each axis of the output: the next one of `indices`, or the point's along an axis of
 * `values`.
 */
type Places = readonly ('index' | number)[];

function store(
  op: string,
  mode: ScatterMode,
  x: Tensor,
  places: Places,
  indices: readonly Tensor[],
  values: Tensor,
  out: Tensor | undefined,
): Tensor {
  const { backend, shape } = x;
  const { type, from } = checkKinds(op, x, indices, values);
  return produce(op, backend, shape, x.dtype, { out }, (result) => {
    if (result !== x) launch(op, [x], () => copyElements(backend, shape, x, result));
    const { ptr, dtype, strides } = result;
    const domain = values.shape;
    const inputs = Object.fromEntries(indices.map((each, at) => [`i${at}`, placeOver(each, domain)]));
    const call = {
      ...{ shape: domain, inputs: { ...inputs, x: placeOver(values, domain) } },
      outputs: { y: { ptr, dtype, strides, shape } },
    };
    launch(op, [x, ...indices, values], () => launchKernel(backend, kernelOf(op, mode, type, from, places), call));
  });
}

/** The types of a kernel's values and indices. */
function checkKinds(
  op: string,
  x: Tensor,
  indices: readonly Tensor[],
  values: Tensor,
): { readonly type: NumberType; readonly from: readonly ('i32' | 'u32')[] } {
  const type = ELEMENT_TYPES[x.dtype].value;
  const from = indices.map(({ dtype, shape }) => {
    const each = ELEMENT_TYPES[dtype].value;
    if (each === 'f32') throw refuse(op, `takes integers as indices, got ${dtype}${shapeText(shape)}`);
    return each;
  });
  if (ELEMENT_TYPES[values.dtype].value !== type) throw refuse(op, `values are ${values.dtype}, x is ${x.dtype}`);
  if (x.rank > MAX_AXES) throw refuse(op, `takes at most ${MAX_AXES} axes, got ${shapeText(x.shape)}`);
  checkSameBackend(op, x.backend, [...indices, values]);
  return { type, from };
}

const kernels = new Kernels();

function kernelOf(
  op: string,
  mode: ScatterMode,
  type: NumberType,
  from: readonly ('i32' | 'u32')[],
  places: Places,
): Kernel {
  return kernels.of([op, mode, type, ...from, ...places].join(' '), () => {
    const inputs = { x: type, ...Object.fromEntries(from.map((each, at) => [`i${at}`, each])) };
    const y = { type, access: 'scatter', rank: places.length as 1, mode } as const;
    return defineKernel(op, { inputs, outputs: { y } }, (symbols, k) => {
      const all = symbols as unknown as Readonly<Record<string, Value<'u32'>>>;
      let next = 0;
      const at = places.map((place) => (place === 'index' ? (all[`i${next++}`] as Value<'u32'>) : k.index(place)));
      return { y: k.scatter(all['x'] as unknown as Value<NumberType>, at) };
    }) as Kernel;
  });
}
