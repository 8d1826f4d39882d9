import type { Recorder } from '../recorder.ts';
import type { Splits } from './launch-product.ts';
import { matvecColumns } from './matvec-columns.wgsl.ts';
import { MATVEC_EACH, type MatvecGroup, type MatvecParams } from './matvec-kernel.ts';
import { matvecRows } from './matvec-rows.wgsl.ts';
import { areFours, bindMatrix, type Matrix, type Product } from './product.ts';

/** A matrix times a vector: what a product with one row or one column is. */
interface Matvec {
  readonly rows: number;
  readonly matrix: Matrix;
  /** Whether the neighbours of a row are neighbours in memory. */
  readonly alongRows: boolean;
  readonly vector: Matrix;
  readonly vectorStep: number;
  readonly resultStep: number;
}

/** Launches a product with m = 1 or n = 1. With m = 1 the roles change: `C^T = op(B)^T op(A)^T`. */
export function launchMatvec(
  product: Product,
  { id, group }: { readonly id: string; readonly group: MatvecGroup },
  splits: Splits,
  recorder: Recorder,
): void {
  const { k, batchCount, alpha, beta, c } = product;
  const { rows, matrix, alongRows, vector, vectorStep, resultStep } = matvecOf(product);
  const { storageAlignment } = recorder.traits;
  const a = bindMatrix(matrix, storageAlignment);
  const b = bindMatrix(vector, storageAlignment);
  const result = bindMatrix(c, storageAlignment);
  const isVectorWide = vectorStep === 1 && areFours(b.start, vector.stride);
  // Along columns the vector is read one by one.
  const wide = areFours(a.start, matrix.ld, matrix.stride, alongRows ? k : rows) && (!alongRows || isVectorWide);
  const params: MatvecParams = { input: matrix.dtype, output: c.dtype, wide, group };
  const tiles = Math.ceil(rows / (group.lanes * MATVEC_EACH));
  recorder.launch({
    kernel: alongRows ? matvecRows(params) : matvecColumns(params),
    storage: { a: a.span, b: b.span, c: result.span },
    uniforms: {
      rows,
      k,
      a_ld: matrix.ld,
      b_step: vectorStep,
      c_step: resultStep,
      a_start: a.start,
      b_start: b.start,
      c_start: result.start,
      a_stride: matrix.stride,
      b_stride: vector.stride,
      c_stride: c.stride,
      batches: batchCount,
      depth: splits.depth,
      c_split: splits.stride,
      tiles,
      alpha,
      beta,
      reads_c: Number(beta !== 0),
    },
    groups: tiles * batchCount * splits.count,
    variant: id,
  });
}

function matvecOf({ m, n, transA, transB, a, b, c }: Product): Matvec {
  if (n === 1) {
    // B is stored k x 1, or 1 x k.
    const vectorStep = transB ? 1 : b.ld;
    return { rows: m, matrix: a, alongRows: !transA, vector: b, vectorStep, resultStep: c.ld };
  }
  const vectorStep = transA ? a.ld : 1;
  return { rows: n, matrix: b, alongRows: transB, vector: a, vectorStep, resultStep: 1 };
}
