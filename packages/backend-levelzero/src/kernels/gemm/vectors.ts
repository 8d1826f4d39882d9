import type { Candidates } from '@concord/variants';
import { gridOf } from '../work.ts';
import type { Kernel } from '../kernel.ts';
import type { DeviceTraits, Launch, Recorder } from '../recorder.ts';
import {
  COLUMN_LANES,
  type MatvecFormats,
  TEAM_ROWS,
  teamColumns,
  teamRows,
  WIDE_ROWS,
  wideColumns,
  wideRows,
} from './vectors.spv.ts';
import { LANES, pack, PACK_DEPTH } from './pack.spv.ts';
import { type Matrix, type Product, type ProductShape, type Steps, stepsOfA, stepsOfB } from './product.ts';
import {
  FORMATS,
  GROUPS_EACH,
  ITEMS_EACH,
  type ProductTable,
  type ProductWork,
  type Size,
  splitArguments,
  splitsFor,
  togetherIn,
  type Variant,
} from './table.ts';

/** The kind of kernel: by wide vectors of one work-item, or by teams of work-items. */
type By = 'vectors' | 'teams';

/** The shape of a product as a matrix times vectors. */
export interface MatvecShape {
  /** True if op(A) is the matrix; else it is op(B)^T, as `C^T = op(B)^T op(A)^T`. */
  readonly isA: boolean;
  /** Rows of the matrix. */
  readonly rows: number;
  readonly vectors: number;
  /** True if the neighbours of a row are neighbours in memory; else those of a column are. */
  readonly alongRows: boolean;
}

/** Vectors of a strip of the kernel for matrices that lie column by column. */
const STRIPS = [16, 4, 1] as const;
/** The maximum number of vectors for which a matrix that lies row by row is not packed: it is read from the cache again for each four. */
const FEW_VECTORS = 16;

const PLAIN = FORMATS.map((formats): MatvecFormats => ({ ...formats, matrix: formats.input, vector: formats.input }));
/** Vectors with gaps are packed first, in float32. */
const GATHERED = PLAIN.filter(({ matrix }) => matrix === 'f16').map((formats) => ({
  ...formats,
  vector: 'f32' as const,
}));

/** The larger side is the matrix, unless only the other one lies row by row. */
export function matvecShape({ m, n, transA, transB }: ProductShape): MatvecShape {
  const isA = n === 1 || (m > 1 && n <= m && !(transA && transB));
  return isA ? { isA, rows: m, vectors: n, alongRows: !transA } : { isA, rows: n, vectors: m, alongRows: transB };
}

/** Work-groups of such a launch for each matrix and range of k. */
function groupsFor({ rows, alongRows }: MatvecShape, by: By): number {
  if (by === 'teams') return Math.ceil(rows / (alongRows ? TEAM_ROWS : COLUMN_LANES));
  return Math.ceil(rows / (alongRows ? WIDE_ROWS : stripOf(rows) * LANES));
}

/**
 * Products as a matrix times vectors: one by teams of work-items, on GPUs; a few by wide vectors, on processors, where the matrix lies row
 * by row, and one of at least 16 rows where it lies column by column.
 */
export const vectorTables: readonly ProductTable[] = [
  {
    ids: [true, false].map((alongRows) => vectorId('teams', alongRows)),
    kernelsFor: ({ isCpuLike }) =>
      isCpuLike ? [] : PLAIN.flatMap((vectors) => [teamRows(vectors), teamColumns(vectors)]),
    candidates: (product, { isCpuLike, computeUnits }) => {
      if (isCpuLike || (product.m !== 1 && product.n !== 1)) return undefined;
      return offer(product, 'teams', GROUPS_EACH * computeUnits);
    },
    mostAtOnce,
    launch: (work, variant, recorder) => launch(work, variant, 'teams', recorder),
  },
  {
    ids: [true, false].map((alongRows) => vectorId('vectors', alongRows)),
    kernelsFor: ({ isCpuLike }) => {
      if (!isCpuLike) return [];
      const rows = [...PLAIN, ...GATHERED].flatMap((formats) =>
        ([1, 4] as const).map((each) => wideRows({ ...formats, each })),
      );
      return [...rows, ...PLAIN.flatMap((formats) => STRIPS.map((vectors) => wideColumns({ ...formats, vectors })))];
    },
    candidates: (product, { isCpuLike, computeUnits }) => {
      const { alongRows, rows, vectors } = matvecShape(product);
      const isFew = alongRows ? vectors <= FEW_VECTORS && rows >= 2 * vectors : vectors === 1 && rows >= LANES;
      if (!isCpuLike || !isFew || product.k < LANES) return undefined;
      return offer(product, 'vectors', ITEMS_EACH * computeUnits);
    },
    mostAtOnce,
    launch: (work, variant, recorder) => launch(work, variant, 'vectors', recorder),
  },
];

function mostAtOnce({ m, n }: Product, _variant: Variant, splits: number, traits: DeviceTraits): Size {
  return { batchCount: togetherIn(splits, traits), m, n };
}

function offer(product: Product, by: By, wanted: number): Candidates<Variant> {
  const shape = matvecShape(product);
  const groups = product.batchCount * groupsFor(shape, by);
  const variant = { id: vectorId(by, shape.alongRows), splits: splitsFor(groups, product.k, wanted) };
  return { variants: [variant], preferred: variant, rank: 6 };
}

/** Id of a variant. */
export function vectorId(by: By, alongRows: boolean): string {
  return `gemm/${by === 'teams' ? 'team' : 'wide'}-${alongRows ? 'rows' : 'columns'}`;
}

function launch({ product, splits }: ProductWork, { id }: Variant, by: By, recorder: Recorder): void {
  const { k, alpha, beta, c, batchCount } = product;
  const shape = matvecShape(product);
  const [stepsA, stepsB] = [stepsOfA(product), stepsOfB(product)];
  const [matrix, given, steps] = shape.isA ? [product.a, product.b, stepsB] : [product.b, product.a, stepsA];
  const isGathered = by === 'vectors' && shape.alongRows && steps.term !== 1;
  const x = isGathered
    ? gather(given, steps, shape.vectors, product, recorder)
    : { vector: given, line: steps.line, term: steps.term };
  const [row, line] = shape.isA ? [c.ld, 1] : [1, c.ld];
  const formats = { matrix: matrix.dtype, vector: x.vector.dtype, output: c.dtype };
  const several: Launch['args'] = { vectors: shape.vectors, vector_ld: x.line, c_line: line };
  recorder.launch({
    kernel: kernelFor(by, shape, formats),
    args: {
      matrix: matrix.span,
      vector: x.vector.span,
      c: c.span,
      rows: shape.rows,
      matrix_ld: matrix.ld,
      matrix_stride: matrix.stride,
      vector_step: x.term,
      vector_stride: x.vector.stride,
      c_step: row,
      ...splitArguments(k, splits, c.stride),
      alpha,
      beta,
      ...(by === 'vectors' && shape.alongRows ? several : {}),
    },
    groups: gridOf(groupsFor(shape, by), recorder.traits, batchCount * splits.count),
    variant: id,
  });
}

function kernelFor(by: By, shape: MatvecShape, formats: MatvecFormats): Kernel {
  const { alongRows, rows, vectors } = shape;
  if (by === 'teams') return alongRows ? teamRows(formats) : teamColumns(formats);
  return alongRows
    ? wideRows({ ...formats, each: vectors === 1 ? 1 : 4 })
    : wideColumns({ ...formats, vectors: stripOf(rows) });
}

function stripOf(rows: number): (typeof STRIPS)[number] {
  return STRIPS.find((vectors) => rows >= 2 * vectors * LANES) ?? 1;
}

/** Vectors whose terms are neighbours. */
interface Gathered {
  readonly vector: Matrix;
  /** Elements from one vector to the next, and between terms. */
  readonly line: number;
  readonly term: number;
}

/** The vectors without gaps, in float32: panels of one line. */
function gather(
  vector: Matrix,
  steps: Steps,
  vectors: number,
  { k, batchCount }: Product,
  recorder: Recorder,
): Gathered {
  const count = vector.stride === 0 ? 1 : batchCount;
  const span = recorder.scratch(4 * count * vectors * k);
  const each = Math.max(PACK_DEPTH, Math.ceil(k / recorder.traits.maxGroups[1]));
  recorder.launch({
    kernel: pack({ input: vector.dtype, width: 1, alongK: false }),
    args: {
      source: vector.span,
      panels: span,
      lines: vectors,
      k,
      source_ld: steps.term,
      source_stride: vector.stride,
      each,
    },
    groups: [vectors, Math.ceil(k / each), count],
  });
  const stride = vector.stride === 0 ? 0 : vectors * k;
  return { vector: { span, dtype: 'f32', ld: k, stride }, line: k, term: 1 };
}
