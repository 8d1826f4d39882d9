import type { DeviceTraits, Recorder } from '../recorder.ts';
import { type ProductFamily, shapeOf, type Splits, type Variant } from './family.ts';
import { matvecColumns } from './matvec-columns.wgsl.ts';
import { MATVEC_EACH, type MatvecGroup, type MatvecParams } from './matvec-kernel.ts';
import { matvecRows } from './matvec-rows.wgsl.ts';
import { areFours, bindMatrix, isVector, type Matrix, type Product } from './product.ts';
import { storagesOn } from './product-kernel.ts';
import { tilesOn } from './tile-table.ts';

/** Workgroups by how M lies, smallest team first, for GPUs. */
const GPU_GROUPS: Groups = {
  rows: [
    { lanes: 8, team: 16 },
    { lanes: 4, team: 32 },
    { lanes: 2, team: 64 },
    { lanes: 1, team: 128 },
  ],
  columns: [
    { lanes: 8, team: 32 },
    { lanes: 8, team: 64 },
    { lanes: 8, team: 128 },
  ],
};
/** And where barriers are dear. */
const SOFTWARE_GROUPS: Groups = { rows: [{ lanes: 64, team: 1 }], columns: [{ lanes: 64, team: 1 }] };

type Groups = Readonly<Record<'rows' | 'columns', readonly MatvecGroup[]>>;

const GROUP_OF: ReadonlyMap<string, MatvecGroup> = new Map(
  [GPU_GROUPS, SOFTWARE_GROUPS].flatMap(({ rows, columns }) =>
    [...rows, ...columns].map((group) => [idOf(group), group] as const),
  ),
);

/** Invocations that keep the memory of a large GPU busy, and more than which are no use. */
const ENOUGH_INVOCATIONS = 131_072;
const MAX_INVOCATIONS = 196_608;
/** Least number of terms of one invocation of a team, and those for which a split is worth to be finished. */
const MIN_LANE_DEPTH = 4;
const MIN_LANE_SPLIT = 64;

/** Products with a vector: with one row or one column. */
export const matvecFamily: ProductFamily = {
  ids: [...GROUP_OF.keys()],
  kernelsFor: (traits) => {
    const { rows, columns } = groupsOn(traits);
    return storagesOn(traits).flatMap((storage) =>
      [false, true].flatMap((wide) => [
        ...rows.map((group) => matvecRows({ ...storage, wide, group })),
        ...columns.map((group) => matvecColumns({ ...storage, wide, group })),
      ]),
    );
  },
  candidates: (product, _depth, traits) => {
    if (!isVector(product)) return undefined;
    const groups = groupsOn(traits)[matvecOf(product).alongRows ? 'rows' : 'columns'];
    const variants = groups.map((group) => variantOf(group, product));
    return { variants, preferred: variantOf(best(product, groups), product) };
  },
  launch: launchMatvec,
};

function groupsOn(traits: DeviceTraits): Groups {
  const { rows, columns } = tilesOn(traits).length === 0 ? SOFTWARE_GROUPS : GPU_GROUPS;
  const fits = ({ lanes, team }: MatvecGroup): boolean => lanes * team <= traits.maxInvocations;
  return { rows: rows.filter(fits), columns: columns.filter(fits) };
}

function variantOf(group: MatvecGroup, product: Product): Variant {
  const lacking = Math.floor(ENOUGH_INVOCATIONS / invocationsOf(group, product));
  const worthwhile = Math.floor(product.k / (MIN_LANE_SPLIT * group.team));
  // Without a team the device has no use for more invocations.
  return { id: idOf(group), splits: group.team === 1 ? 1 : Math.max(1, Math.min(lacking, worthwhile)) };
}

/** The largest team that each of its members has something to do in, and the device something to do with. */
function best(product: Product, smallestFirst: readonly MatvecGroup[]): MatvecGroup {
  const fitting = smallestFirst.filter(
    (group) => group.team * MIN_LANE_DEPTH <= product.k && invocationsOf(group, product) <= MAX_INVOCATIONS,
  );
  return fitting.at(-1) ?? (smallestFirst[0] as MatvecGroup);
}

function invocationsOf({ lanes, team }: MatvecGroup, { m, n, batchCount }: Product): number {
  return batchCount * Math.ceil(Math.max(m, n) / (lanes * MATVEC_EACH)) * lanes * team;
}

function idOf({ lanes, team }: MatvecGroup): string {
  return `gemm/matvec-${lanes}x${team}`;
}

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

/** With m = 1 the roles change: `C^T = op(B)^T op(A)^T`. */
function launchMatvec(product: Product, variant: Variant, splits: Splits, recorder: Recorder): void {
  const group = shapeOf(GROUP_OF, variant);
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
    variant: variant.id,
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
