import type { Kernel } from '../kernel.ts';
import type { Recorder } from '../recorder.ts';
import type { MatvecFormats } from './matvec.ts';
import { pack, PACK_DEPTH } from './pack.spv.ts';
import type { Matrix, Product } from './product.ts';
import { splitArguments, type Splits } from './splits.ts';
import { COLUMN_LANES, teamColumns } from './team-columns.spv.ts';
import { TEAM_ROWS, teamRows } from './team-rows.spv.ts';
import { wideColumns } from './wide-columns.spv.ts';
import { WIDE_ROWS, wideRows } from './wide-rows.spv.ts';
import { LANES } from './wide-shape.ts';

/** A matrix times a vector: what a product with one row or one column is. */
export interface Matvec {
  readonly rows: number;
  readonly matrix: Matrix;
  /** Whether the neighbours of a row are neighbours in memory; else those of a column are. */
  readonly alongRows: boolean;
  readonly vector: Matrix;
  readonly vectorStep: number;
  readonly resultStep: number;
}

/** How a product with a vector is computed. */
export interface MatvecVariant {
  readonly kind: 'matvec';
  /** By wide vectors of one work-item, or by teams of work-items. */
  readonly by: 'vectors' | 'teams';
  readonly splits: number;
}

/** Vectors of a strip of the kernel for matrices that lie column by column. */
const STRIPS = [16, 4, 1] as const;
/** Fewest rows that such a kernel takes. */
export const LEAST_STRIP: number = LANES;

/** The matrix and the vector of a product with m = 1 or n = 1. With m = 1 the roles change: `C^T = op(B)^T op(A)^T`. */
export function matvecOf({ m, n, transA, transB, a, b, c }: Product): Matvec {
  if (n === 1) {
    // B is stored k x 1, or 1 x k.
    return {
      rows: m,
      matrix: a,
      alongRows: !transA,
      vector: b,
      vectorStep: transB ? 1 : b.ld,
      resultStep: c.ld,
    };
  }
  return { rows: n, matrix: b, alongRows: transB, vector: a, vectorStep: transA ? a.ld : 1, resultStep: 1 };
}

/** Work-groups of such a launch along x. */
export function matvecGroups(rows: number, alongRows: boolean, by: MatvecVariant['by']): number {
  if (by === 'teams') return Math.ceil(rows / (alongRows ? TEAM_ROWS : COLUMN_LANES));
  return Math.ceil(rows / (alongRows ? WIDE_ROWS : stripOf(rows) * LANES));
}

/** Launches a product with m = 1 or n = 1; by vectors, a matrix that lies column by column has at least 16 rows. */
export function launchMatvec(product: Product, by: MatvecVariant['by'], splits: Splits, recorder: Recorder): void {
  const { k, alpha, beta, c, batchCount } = product;
  const { rows, matrix, alongRows, vector: given, vectorStep: step, resultStep } = matvecOf(product);
  const isGathered = by === 'vectors' && alongRows && step !== 1;
  const vector = isGathered ? gather(given, step, product, recorder) : given;
  recorder.launch({
    kernel: kernelFor(by, alongRows, rows, { matrix: matrix.dtype, vector: vector.dtype, output: c.dtype }),
    args: {
      matrix: matrix.span,
      vector: vector.span,
      c: c.span,
      rows,
      matrix_ld: matrix.ld,
      matrix_stride: matrix.stride,
      vector_step: isGathered ? 1 : step,
      vector_stride: vector.stride,
      c_step: resultStep,
      ...splitArguments(k, splits, c.stride),
      alpha,
      beta,
    },
    groups: [matvecGroups(rows, alongRows, by), 1, batchCount * splits.count],
  });
}

function kernelFor(by: MatvecVariant['by'], alongRows: boolean, rows: number, formats: MatvecFormats): Kernel {
  if (by === 'teams') return alongRows ? teamRows(formats) : teamColumns(formats);
  return alongRows ? wideRows(formats) : wideColumns({ ...formats, vectors: stripOf(rows) });
}

function stripOf(rows: number): (typeof STRIPS)[number] {
  return STRIPS.find((vectors) => rows >= 2 * vectors * LANES) ?? 1;
}

/** The vector without gaps, in float32: a panel of one line. */
function gather(vector: Matrix, step: number, { k, batchCount }: Product, recorder: Recorder): Matrix {
  const count = vector.stride === 0 ? 1 : batchCount;
  const span = recorder.scratch(4 * count * k);
  recorder.launch({
    kernel: pack({ input: vector.dtype, width: 1, alongK: false }),
    args: {
      source: vector.span,
      panels: span,
      lines: 1,
      k,
      source_ld: step,
      source_stride: vector.stride,
    },
    groups: [1, Math.ceil(k / PACK_DEPTH), count],
  });
  return { span, dtype: 'f32', ld: k, stride: vector.stride === 0 ? 0 : k };
}
