import {
  type ComputeBackend,
  type DevicePtr,
  type Epilogue,
  type GemmCall,
  type GemmShape,
  isBackendError,
  type PlannedCall,
  type QuantB,
  type StoredFloatDType,
  WEIGHT_BITS,
  type WeightDType,
} from '@concord/backend-core';
import type { Kernel, RunOperand, RunView } from '@concord/backend-core/kernel';
import { launchOp, plannedLaunch } from '../compute/launches.ts';
import { runFused } from './run-fused.ts';

/** A matrix of each batch: addresses and strides in elements. */
export interface Matrices {
  readonly ptr: DevicePtr;
  /** The stride of each batch axis. */
  readonly batch: readonly number[];
  readonly row: number;
  readonly column: number;
}

/** The epilogue of a product: `kernel` over the result, with operands laid out as its matrices. */
export interface ProductEpilogue {
  readonly kernel: Kernel;
  readonly inputs: Readonly<Record<string, Matrices>>;
}

/** `C = A B` for every index of the batch axes, then the epilogue. */
export interface Product {
  readonly batch: readonly number[];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Matrices;
  readonly b: Matrices;
  readonly c: Matrices;
  readonly dtype: StoredFloatDType;
  /** The dtype of B. Default: `dtype`. */
  readonly dtypeB?: WeightDType | undefined;
  /** The quantization of integers in b, one matrix for all batches. */
  readonly quantB?: QuantB | undefined;
  readonly epilogue?: ProductEpilogue | undefined;
}

/** A matrix as a product takes it: as stored, or transposed, with the distance of its stored rows. */
interface Stored {
  readonly trans: 'N' | 'T';
  readonly ld: number;
}

/**
 * The layout in which a product reads a matrix without a copy: its rows or its columns are dense, and do not overlap.
 *
 * @returns undefined where it needs a copy
 */
export function storedAs(rows: number, columns: number, row: number, column: number): Stored | undefined {
  if ((column === 1 || columns === 1) && (row >= columns || rows === 1))
    return { trans: 'N', ld: Math.max(row, columns) };
  if ((row === 1 || rows === 1) && (column >= rows || columns === 1)) return { trans: 'T', ld: Math.max(column, rows) };
  return undefined;
}

/** Computes a product, in one call where the batch axes lie evenly, else in one for each index of the outer ones. */
export function multiply(backend: ComputeBackend, product: Product): void {
  if (product.batch.length === 0) return launchBatch(backend, product, SINGLE, NOWHERE);
  const [outer, inner] = evenly(product);
  for (const offsets of outer) launchBatch(backend, product, inner, offsets);
}

interface BatchAxis {
  readonly length: number;
  /** Strides of a, b, c and the inputs of the epilogue. */
  readonly strides: readonly number[];
}

/** No batch axes: three operands and as many inputs as an epilogue may have. */
const NOWHERE: readonly number[] = [0, 0, 0, 0, 0, 0];
const SINGLE: BatchAxis = { length: 1, strides: NOWHERE };

/** The batch axes taken together as far as they lie evenly: places of the outer ones, and the innermost. */
function evenly({ batch, a, b, c, epilogue }: Product): [readonly (readonly number[])[], BatchAxis] {
  const operands = [a, b, c, ...Object.values(epilogue?.inputs ?? {})];
  const axes: BatchAxis[] = [];
  for (const [axis, length] of batch.entries()) {
    if (length === 1) continue;
    const strides = operands.map((each) => each.batch[axis] as number);
    const last = axes.at(-1);
    const joins = last?.strides.every((stride, index) => stride === (strides[index] as number) * length) ?? false;
    if (last !== undefined && joins) axes[axes.length - 1] = { length: last.length * length, strides };
    else axes.push({ length, strides });
  }
  const inner = axes.pop() ?? { length: 1, strides: operands.map(() => 0) };
  let places: readonly (readonly number[])[] = [operands.map(() => 0)];
  for (const { length, strides } of axes) {
    places = places.flatMap((place) =>
      Array.from({ length }, (_, index) => place.map((offset, each) => offset + index * (strides[each] as number))),
    );
  }
  return [places, inner];
}

/**
 * The one call of a product without batch axes, wherever its operands are: a, b, the inputs of the epilogue, then c.
 *
 * @returns undefined where the backend does not fuse the epilogue
 */
export function planProduct(backend: ComputeBackend, product: Product): PlannedCall | undefined {
  const { epilogue, dtype } = product;
  const shape = shapeOf(product);
  if (epilogue === undefined) return plannedLaunch(backend, 'gemm', shape);
  // One that does not plan says so only when it is called.
  if (backend.plan === undefined) return undefined;
  const views = Object.entries(epilogue.inputs).map(([name, { row, column }]) => [
    name,
    { strides: [0, row, column], dtype },
  ]);
  const inputs = Object.fromEntries(views) as Record<string, RunView>;
  try {
    return plannedLaunch(backend, 'gemm', { ...shape, epilogue: { kernel: epilogue.kernel, inputs } });
  } catch (error) {
    if (isBackendError(error, 'UNSUPPORTED')) return undefined;
    throw error;
  }
}

function shapeOf(product: Product): GemmShape & Pick<GemmCall, 'quantB'> {
  const { m, n, k, dtype, dtypeB = dtype, quantB } = product;
  const a = storedAs(m, k, product.a.row, product.a.column) as Stored;
  const { row, column } = product.b;
  const b: Stored = quantB === undefined ? (storedAs(k, n, row, column) as Stored) : { trans: 'T', ld: column };
  const ld = { lda: a.ld, ldb: b.ld, ldc: rowOf(product) };
  return { m, n, k, dtype, dtypeB, transA: a.trans, transB: b.trans, ...ld, ...(quantB && { quantB }) };
}

function launchBatch(backend: ComputeBackend, product: Product, inner: BatchAxis, offsets: readonly number[]): void {
  const { m, n, dtype, dtypeB = dtype } = product;
  const call: GemmCall = {
    ...shapeOf(product),
    a: placeOf(product.a, 0, offsets, dtype),
    b: placeOf(product.b, 1, offsets, dtypeB),
    c: placeOf(product.c, 2, offsets, dtype),
  };
  const epilogue = epilogueOf(product, inner, offsets);
  if (epilogue === undefined) return launchOne(backend, call, inner);
  const place = { ptr: call.c, dtype, strides: [inner.strides[2] as number, rowOf(product), 1] };
  const run = (fused: Epilogue | undefined): void =>
    launchOne(backend, fused === undefined ? call : { ...call, epilogue: fused }, inner);
  runFused(backend, run, epilogue, { shape: [inner.length, m, n], place });
}

function launchOne(backend: ComputeBackend, call: GemmCall, { length, strides }: BatchAxis): void {
  if (length === 1) return launchOp(backend, 'gemm', call);
  const [strideA = 0, strideB = 0, strideC = 0] = strides;
  launchOp(backend, 'batchedGemm', { ...call, strideA, strideB, strideC, batchCount: length });
}

function placeOf({ ptr }: Matrices, operand: number, offsets: readonly number[], dtype: WeightDType): DevicePtr {
  return (ptr + ((offsets[operand] as number) * WEIGHT_BITS[dtype]) / 8) as DevicePtr;
}

/** The distance of the rows of C; where there is one row it may be anything. */
function rowOf({ m, n, c }: Product): number {
  return m === 1 ? Math.max(c.row, n) : c.row;
}

function epilogueOf({ epilogue, dtype }: Product, inner: BatchAxis, offsets: readonly number[]): Epilogue | undefined {
  if (epilogue === undefined) return undefined;
  const inputs: Record<string, RunOperand> = {};
  let operand = 3;
  for (const name of Object.keys(epilogue.inputs)) {
    const matrices = epilogue.inputs[name] as Matrices;
    const strides = [inner.strides[operand] as number, matrices.row, matrices.column];
    inputs[name] = { ptr: placeOf(matrices, operand, offsets, dtype), strides, dtype };
    operand++;
  }
  return { kernel: epilogue.kernel, inputs };
}
