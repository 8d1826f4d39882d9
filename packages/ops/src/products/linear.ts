import { NULL_PTR, type StoredFloatDType, type WeightDType } from '@concord/backend-core';
import type { Kernel } from '@concord/backend-core/kernel';
import { type Plan, Plans, producePlanned } from '../compute/plans.ts';
import { checkOut, checkSameBackend, hasRows, isApart, type OutOption, produceRows } from '../compute/produce.ts';
import { QuantizedTensor } from '../quantized/quantized-tensor.ts';
import { OUT, type OptionKinds, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout } from '../tensor/layout.ts';
import { broadcastShapes, broadcastStrides, reshapedStrides, sameShape, sizeOf } from '../tensor/shape.ts';
import { listeners } from '../tensor/listeners.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { type Activation, epilogueKernel, finished, type Joined } from './activation.ts';
import { checkProduct, PRODUCT_DTYPES, readable } from './matmul.ts';
import { type Matrices, multiply, planProduct, type Product, storedAs } from './product.ts';

const OPTIONS: OptionKinds = { ...OUT, bias: 'tensor', activation: 'any', residual: 'tensor' };

/** Options of {@link linear}. */
export interface LinearOptions extends OutOption {
  /** `[out]`, added to each row. */
  readonly bias?: Tensor | undefined;
  /** The function applied to the sum. Default: none. */
  readonly activation?: Activation | undefined;
  /** `[..., out]`, added at the end; it may be `out`. */
  readonly residual?: Tensor | undefined;
}

/**
 * `activation(x W^T + bias) + residual` in one launch, as PyTorch's linear: `x` is `[..., in]`, `weight` `[out, in]`, the
 * result `[..., out]`. A weight stored `[in, out]`, as GPT-2's are, goes in as `transpose(weight)`, which copies nothing.
 * f32, or f16 and bf16 with sums in float32, as `x` is; the weight may be of another of them or quantized.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2]]);
 * const weight = tensor(backend, [[1, 1], [1, -1], [0, 2]]);
 * await linear(x, weight, { bias: tensor(backend, [1, 0, 0]), activation: 'relu' }).toArray(); // [4, 0, 4]
 * ```
 */
export function linear(x: Tensor, weight: Tensor | QuantizedTensor, options: LinearOptions = {}): Tensor {
  checkOptions('linear', options, OPTIONS);
  return joinedProduct('linear', x, weight, options, 'add');
}

/** {@link linear} for a function of that name, its residual added or a factor. */
export function joinedProduct(
  op: string,
  x: Tensor,
  weight: Tensor | QuantizedTensor,
  options: LinearOptions,
  joined: Joined,
): Tensor {
  checkTensor(op, 'x', x);
  const isQuantized = weight instanceof QuantizedTensor;
  if (!isQuantized) checkTensor(op, 'weight', weight);
  const { bias, activation, residual, out } = options;
  const isFactor = residual !== undefined && joined === 'mul';
  if (listeners.length > 0 && (activation !== undefined || isFactor)) {
    return tidy(() =>
      finished(op, joinedProduct(op, x, weight, { bias }, joined), { activation, residual, joined, out }),
    );
  }
  const operands: [Tensor, ...Tensor[]] = isQuantized ? [x, ...weight.parts] : [x, weight];
  if (bias !== undefined) operands.push(bias);
  if (residual !== undefined) operands.push(residual);
  checkSameBackend(op, x.backend, operands);
  const key: unknown[] = isQuantized ? [x.layout.id, ...weight.key] : [x.layout.id, weight.layout.id];
  key.push(bias?.layout.id ?? 0, residual?.layout.id ?? 0, out?.layout.id ?? 0, activation, joined);
  const form = forms.of(x.backend, key, () =>
    formOf(op, x, weight, operands, { bias, activation, residual, out }, joined),
  );
  if (form.plan !== undefined && (out === undefined || isApart(out, operands))) {
    return producePlanned(op, x.backend, form.plan, operands, out);
  }
  const { shape, dtype, kernel } = form;
  return produceRows(op, operands, shape, dtype, { out }, (result) => {
    if (result.size === 0) return;
    const given: Given = { x, weight, bias, residual, result, dtype, kernel };
    const product = oneMatrix(given);
    if (product !== undefined) launch(op, operands, () => multiply(x.backend, product));
    else tidy(() => launch(op, operands, () => multiply(x.backend, matrixByMatrix(given))));
  });
}

/** All that follows from the layouts of the operands. */
interface Form {
  readonly shape: readonly number[];
  readonly dtype: StoredFloatDType;
  readonly kernel: Kernel | undefined;
  /** The one product that fills the result, where that is one and the result is apart from what is read. */
  readonly plan: Plan | undefined;
}

const forms = new Plans<Form>();

function formOf(
  op: string,
  x: Tensor,
  weight: Tensor | QuantizedTensor,
  operands: readonly Tensor[],
  { bias, activation, residual, out }: LinearOptions,
  joined: Joined,
): Form {
  const shape = [...x.shape];
  shape[x.rank - 1] = weight.shape[0] ?? 0;
  const others = [x, bias, residual].filter((each) => each !== undefined);
  const dtype = checkProduct<StoredFloatDType>(
    op,
    others,
    weight instanceof QuantizedTensor ? undefined : weight,
    PRODUCT_DTYPES,
  );
  checkSizes(op, x, weight, bias, residual, shape);
  const kernel = epilogueKernel(op, bias !== undefined, activation, residual && joined);
  checkOut(op, out, shape, dtype);
  const result = out?.layout ?? denseLayout(shape, dtype);
  const given: Given = { x, weight, bias, residual, result: { ...result, ptr: NULL_PTR }, dtype, kernel };
  const product = result.size === 0 || !hasRows(result, dtype) ? undefined : oneMatrix(given);
  const call = product && launch(op, operands, () => planProduct(x.backend, product));
  return { shape, dtype, kernel, plan: call && { result, call } };
}

function checkSizes(
  op: string,
  x: Tensor,
  weight: Tensor | QuantizedTensor,
  bias: Tensor | undefined,
  residual: Tensor | undefined,
  shape: readonly number[],
): void {
  const [n = 0, k = 0] = weight.shape;
  if (weight.shape.length !== 2 || x.rank === 0 || x.shape.at(-1) !== k) {
    throw refuse(op, `x ${shapeText(x.shape)} does not fit weight ${shapeText(weight.shape)}, which is [out, in]`);
  }
  if (bias !== undefined && !sameShape(bias.shape, [n])) {
    throw refuse(op, `bias must be [${n}] for weight ${shapeText(weight.shape)}, got ${shapeText(bias.shape)}`);
  }
  const both = residual === undefined ? shape : broadcastShapes(residual.shape, shape);
  if (both === undefined || !sameShape(both, shape)) {
    throw refuse(op, `residual ${shapeText(residual?.shape ?? [])} does not broadcast to ${shapeText(shape)}`);
  }
}

/** A tensor, or where a new one would lie. */
type Placed = Pick<Tensor, 'shape' | 'strides' | 'size' | 'isDense' | 'ptr'>;

interface Given {
  readonly x: Tensor;
  readonly weight: Tensor | QuantizedTensor;
  readonly bias: Tensor | undefined;
  readonly residual: Tensor | undefined;
  readonly result: Placed;
  readonly dtype: StoredFloatDType;
  readonly kernel: Kernel | undefined;
}

const NO_BATCH: readonly number[] = [];

/** The product of all rows as one matrix, where they lie evenly in each operand and nothing needs a copy. */
function oneMatrix({ x, weight, bias, residual, result, dtype, kernel }: Given): Product | undefined {
  const [n = 0, k = 0] = weight.shape;
  const [row = 0, column = 0] = weight.strides;
  const a = rowsOf(x, x.shape);
  const c = rowsOf(result, result.shape);
  const added = residual === undefined ? undefined : rowsOf(residual, result.shape);
  if (a === undefined || c === undefined || storedAs(n, k, row, column) === undefined) return undefined;
  if (storedAs(result.size / n, k, a.row, a.column) === undefined) return undefined;
  if (residual !== undefined && added === undefined) return undefined;
  const inputs: Record<string, Matrices> = {};
  if (bias !== undefined) inputs['bias'] = vector(bias, NO_BATCH);
  if (added !== undefined) inputs['residual'] = added;
  const b = { ptr: weight.ptr, batch: NO_BATCH, row: column, column: row };
  const epilogue = kernel === undefined ? undefined : { kernel, inputs };
  return { batch: NO_BATCH, m: result.size / n, n, k, a, b, c, dtype, ...typeOf(weight), epilogue };
}

/** The rows of a tensor that broadcasts to a shape, as one matrix; undefined where they do not lie evenly. */
function rowsOf(tensor: Placed, over: readonly number[]): Matrices | undefined {
  const { shape, strides, ptr } = tensor;
  const last = shape.length - 1;
  if (tensor.isDense && sameShape(shape, over)) {
    return { ptr, batch: NO_BATCH, row: shape[last] as number, column: 1 };
  }
  const own = broadcastStrides(shape, strides, over);
  const leading = over.slice(0, -1);
  const row = reshapedStrides(leading, own.slice(0, -1), [sizeOf(leading)])?.[0];
  return row === undefined ? undefined : { ptr, batch: NO_BATCH, row, column: own.at(-1) as number };
}

/** The same with the axes before the last two as batches; what a product cannot read is copied. */
function matrixByMatrix({ x, weight, bias, residual, result, dtype, kernel }: Given): Product {
  const [n = 0, k = 0] = weight.shape;
  const own = weight instanceof QuantizedTensor ? weight : readable(weight);
  const [row = 0, column = 0] = own.strides;
  const rows = x.rank > 1 ? readable(x) : pack(x);
  const batch = result.shape.slice(0, -2);
  const repeated = batch.map(() => 0);
  const matrices = (tensor: Placed, over: readonly number[]): Matrices => {
    const strides = broadcastStrides(tensor.shape, tensor.strides, over);
    return { ptr: tensor.ptr, batch: strides.slice(0, -2), row: strides.at(-2) ?? 0, column: strides.at(-1) as number };
  };
  const inputs: Record<string, Matrices> = {};
  if (bias !== undefined) inputs['bias'] = vector(bias, repeated);
  if (residual !== undefined) inputs['residual'] = matrices(residual, result.shape);
  return {
    ...{ batch, m: result.shape.at(-2) ?? 1, n, k, dtype, ...typeOf(own) },
    a: matrices(rows, x.shape),
    b: { ptr: own.ptr, batch: repeated, row: column, column: row },
    c: matrices(result, result.shape),
    epilogue: kernel === undefined ? undefined : { kernel, inputs },
  };
}

function typeOf(weight: Tensor | QuantizedTensor): Pick<Product, 'dtypeB' | 'quantB'> {
  if (weight instanceof QuantizedTensor) return { dtypeB: weight.dtype, quantB: weight.quantB };
  return { dtypeB: weight.dtype as WeightDType };
}

function vector({ ptr, strides }: Tensor, batch: readonly number[]): Matrices {
  return { ptr, batch, row: 0, column: strides[0] ?? 1 };
}
