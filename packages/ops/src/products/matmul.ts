import type { FloatDType, StoredFloatDType } from '@concord/backend-core';
import { checkSameBackend, type OutOption, produceRows } from '../compute/produce.ts';
import { OUT, checkOptions, checkTensors } from '../tensor/arguments.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, sizeOf } from '../tensor/shape.ts';
import { tidy } from '../tensor/scope.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pack } from '../views/pack.ts';
import { unsqueeze } from '../views/expand.ts';
import { reshape } from '../views/reshape.ts';
import { type Matrices, multiply, storedAs } from './product.ts';

/**
 * Matrix product, as NumPy's: of the last two axes, the others broadcast. A vector on the left is a row, on the right a
 * column, and its axis is not in the result. f32, or f16 and bf16 with sums in float32, as `a` is; `b` may be of another of
 * the three. Transposed views are not copied.
 *
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit, and element types that differ
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const a = tensor(backend, [[1, 2], [3, 4]]);
 * await matmul(a, transpose(a)).toArray(); // [5, 11, 11, 25]
 * await matmul(a, tensor(backend, [1, 1])).toArray(); // [3, 7]
 * ```
 */
export function matmul(a: Tensor, b: Tensor, options: OutOption = {}): Tensor {
  checkTensors('matmul', { a, b });
  checkOptions('matmul', options, OUT);
  const dtype = checkProduct<StoredFloatDType>('matmul', [a], b, PRODUCT_DTYPES);
  const dtypeB = b.dtype as StoredFloatDType;
  const left = a.rank === 1 ? [1, ...a.shape] : a.shape;
  const right = b.rank === 1 ? [...b.shape, 1] : b.shape;
  const [m = 0, k = 0] = left.slice(-2);
  const [rows, n = 0] = right.slice(-2);
  const batch = broadcastShapes(left.slice(0, -2), right.slice(0, -2));
  if (a.rank === 0 || b.rank === 0 || rows !== k || batch === undefined) {
    throw refuse('matmul', `cannot multiply ${shapeText(a.shape)} by ${shapeText(b.shape)}`);
  }
  const shape = [...batch, ...(a.rank === 1 ? [] : [m]), ...(b.rank === 1 ? [] : [n])];
  return produceRows('matmul', [a, b], shape, dtype, options, (result) => {
    if (result.size === 0) return;
    tidy(() => {
      const c = asMatrices(result, a.rank === 1, b.rank === 1);
      const inA = readable(a.rank === 1 ? unsqueeze(a, 0) : a);
      const inB = readable(b.rank === 1 ? unsqueeze(b, 1) : b);
      if (batch.length > 0 && inB.rank === 2 && multiplyRows(inA, inB, c, dtype, dtypeB)) return;
      launch('matmul', [a, b], () => {
        const matrices = (x: Tensor): Matrices => matricesOf(x, batch);
        multiply(a.backend, { batch, m, n, k, a: matrices(inA), b: matrices(inB), c: matrices(c), dtype, dtypeB });
      });
    });
  });
}

/** One product of all rows, where those of the batches lie evenly. */
function multiplyRows(a: Tensor, b: Tensor, c: Tensor, dtype: StoredFloatDType, dtypeB: StoredFloatDType): boolean {
  if (!a.isDense || !c.isDense) return false;
  const [k = 0, n = 0] = b.shape;
  const rows = sizeOf(a.shape.slice(0, -1));
  const flatA = matricesOf(reshape(a, [rows, k]), []);
  const flatC = matricesOf(reshape(c, [rows, n]), []);
  launch('matmul', [a, b], () => {
    multiply(a.backend, { batch: [], m: rows, n, k, a: flatA, b: matricesOf(b, []), c: flatC, dtype, dtypeB });
  });
  return true;
}

/** Returns the place of each matrix of a tensor, over batch axes to which its own broadcast. */
export function matricesOf(x: Tensor, batch: readonly number[]): Matrices {
  const { ptr, shape, strides } = x;
  const axes = shape.length - 2;
  const [row = 0, column = 0] = strides.slice(-2);
  return { ptr, row, column, batch: broadcastStrides(shape.slice(0, axes), strides.slice(0, axes), batch) };
}

/** The tensor, or a dense copy where a product could not read it. */
export function readable(x: Tensor): Tensor {
  const [rows = 1, columns = 1] = x.shape.slice(-2);
  const [row = 1, column = 1] = x.strides.slice(-2);
  return storedAs(rows, columns, row, column) === undefined ? pack(x) : x;
}

/** Element types of products, of convolution and attention without the last. */
export const PRODUCT_DTYPES = ['f32', 'f16', 'bf16'] as const;

/**
 * The element type of a product: that of all operands but the weight, which may be of another.
 *
 * @param dtypes - those that there are
 * @throws {BackendError} INVALID_ARGUMENT where they differ or are none of these
 */
export function checkProduct<D extends StoredFloatDType = FloatDType>(
  op: string,
  operands: readonly Tensor[],
  weight?: Tensor,
  dtypes: readonly StoredFloatDType[] = PRODUCT_DTYPES.slice(0, 2),
): D {
  const [{ dtype, backend }] = operands as readonly [Tensor];
  const all = weight === undefined ? operands : [...operands, weight];
  checkSameBackend(op, backend, all);
  const shown = (): string => all.map((each) => `${each.dtype}${shapeText(each.shape)}`).join(', ');
  if (operands.some((each) => each.dtype !== dtype)) {
    throw refuse(op, `takes operands of one element type, got ${shown()}`, { hint: `cast(x, '${dtype}')` });
  }
  const isWeight = weight === undefined || (PRODUCT_DTYPES as readonly string[]).includes(weight.dtype);
  if (isWeight && (dtypes as readonly string[]).includes(dtype)) return dtype as D;
  throw refuse(op, `takes ${dtypes.join(' or ')}, got ${shown()}`, { hint: "cast(x, 'f32')" });
}

/** The result with the axes that a vector does not have, of size 1. */
function asMatrices(result: Tensor, isRow: boolean, isColumn: boolean): Tensor {
  const withColumn = isColumn ? unsqueeze(result, -1) : result;
  return isRow ? unsqueeze(withColumn, -2) : withColumn;
}
