import { BYTES_OF } from '@concord/backend-core/implement';
import type { DeviceTraits, Recorder } from '../recorder.ts';
import { bindEpilogue } from '../epilogue/fused-epilogue.ts';
import { shapeOf } from '@concord/variants';
import {
  areFours,
  bindMatrix,
  isVector,
  type Matrix,
  type Product,
  type ProductTable,
  type ProductWork,
  type Variant,
} from './product.ts';
import { MATVEC_EACH, matvecColumns, type MatvecGroup, matvecRows } from './matvec.wgsl.ts';
import { storagesOn } from './product-kernel.ts';
import { tilesOn } from './tile.ts';

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
    { lanes: 4, team: 128 },
  ],
};
/** And where barriers are expensive. */
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
/** The minimum number of terms of one invocation of a team, and those for which a split is worth to be finished. */
const MIN_LANE_DEPTH = 4;
const MIN_LANE_SPLIT = 64;

/** Workgroups of the usual width that leave most of a large GPU idle. */
const FEW_GROUPS = 48;
/** Terms of a member of a team along columns that do not take long. */
const SOON = 16;
/** Terms of a row that are worth a team of that size. */
const LONG_ROW = 768;
const LONG_ROW_TEAM = 64;
/** Numbers of terms that an invocation may ask for at once. */
const COLUMNS_AT_ONCE = [4, 8, 12] as const;

/** Products with a vector: with one row or one column. */
export const matvecTable: ProductTable = {
  ids: [...GROUP_OF.keys()],
  kernelsFor: (traits) => {
    const { rows, columns } = groupsOn(traits);
    return storagesOn(traits).flatMap((storage) =>
      [false, true].flatMap((wide) =>
        [false, true].flatMap((wideResult) => [
          ...rows.map((group) => matvecRows({ ...storage, wide, wideResult, group })),
          ...columns.flatMap((group) =>
            COLUMNS_AT_ONCE.map((atOnce) => matvecColumns({ ...storage, wide, wideResult, group, atOnce })),
          ),
        ]),
      ),
    );
  },
  candidates: ({ product }, traits) => {
    if (!isVector(product)) return undefined;
    const { alongRows } = matvecOf(product);
    const groups = groupsOn(traits)[alongRows ? 'rows' : 'columns'];
    const variants = groups.map((group) => variantOf(group, product));
    const preferred = alongRows ? bestOfRows(product, groups) : bestOfColumns(product, groups);
    return { variants, preferred: variantOf(preferred, product) };
  },
  appliesEpilogues: () => true,
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

/**
 * The largest team that each of its members has something to do in, and the device something to do with. Where all are more than
 * that, a large one for long rows.
 */
function bestOfRows(product: Product, smallestFirst: readonly MatvecGroup[]): MatvecGroup {
  const [first] = smallestFirst as readonly [MatvecGroup];
  const long = product.k >= LONG_ROW ? smallestFirst.find(({ team }) => team === LONG_ROW_TEAM) : undefined;
  return possible(product, smallestFirst).at(-1) ?? long ?? first;
}

/** The smallest team whose members soon are through; the narrowest workgroups where they would be few. */
function bestOfColumns(product: Product, groups: readonly MatvecGroup[]): MatvecGroup {
  const fitting = possible(product, groups);
  const [first = groups[0] as MatvecGroup] = fitting;
  const narrow = fitting.at(-1) ?? first;
  if (groupsFor(first, product) < FEW_GROUPS) return narrow;
  const usual = fitting.filter(({ lanes }) => lanes === first.lanes);
  return usual.find(({ team }) => product.k <= SOON * team) ?? usual.at(-1) ?? first;
}

/** The groups in which each member has something to do, and the device something to do with. */
function possible(product: Product, groups: readonly MatvecGroup[]): readonly MatvecGroup[] {
  return groups.filter(
    (group) => group.team * MIN_LANE_DEPTH <= product.k && invocationsOf(group, product) <= MAX_INVOCATIONS,
  );
}

function groupsFor({ lanes }: MatvecGroup, { m, n, batchCount }: Product): number {
  return batchCount * Math.ceil(Math.max(m, n) / (lanes * MATVEC_EACH));
}

function invocationsOf(group: MatvecGroup, product: Product): number {
  return groupsFor(group, product) * group.lanes * group.team;
}

function idOf({ lanes, team }: MatvecGroup): string {
  return `gemm/matvec-${lanes}x${team}`;
}

/** A matrix times a vector: what a product with one row or one column is. */
interface Matvec {
  readonly rows: number;
  readonly matrix: Matrix;
  /** True if the neighbours of a row are neighbours in memory. */
  readonly alongRows: boolean;
  readonly vector: Matrix;
  readonly vectorStep: number;
  readonly resultStep: number;
}

/** Launches the product. With m = 1 the roles change: `C^T = op(B)^T op(A)^T`. */
function launchMatvec({ product, splits }: ProductWork, variant: Variant, recorder: Recorder): void {
  const group = shapeOf(GROUP_OF, variant);
  const { m, k, batchCount, alpha, beta, c, epilogue } = product;
  const { rows, matrix, alongRows, vector, vectorStep, resultStep } = matvecOf(product);
  const { storageAlignment } = recorder.traits;
  const a = bindMatrix(matrix, storageAlignment);
  const b = bindMatrix(vector, storageAlignment);
  const result = bindMatrix(c, storageAlignment);
  const isVectorWide = vectorStep === 1 && areFours(b.start, vector.stride);
  // Along columns the vector is read one by one.
  const wide = areFours(a.start, matrix.ld, matrix.stride, alongRows ? k : rows) && (!alongRows || isVectorWide);
  const isRow = m === 1;
  // Epilogues take neighbours of a row.
  const wideResult =
    resultStep === 1 && areFours(result.start, c.stride, rows, splits.stride) && (epilogue === undefined || isRow);
  // All terms of an invocation, if they are few; where there are no teams, there is nothing to wait for.
  const each = group.team === 1 ? 1 : Math.ceil(splits.depth / group.team);
  const atOnce = COLUMNS_AT_ONCE.find((count) => each <= count) ?? 12;
  const params = { input: matrix.dtype, output: c.dtype, wide, wideResult, group };
  const bound = epilogue === undefined ? undefined : bindEpilogue(epilogue, wideResult ? 4 : 1, storageAlignment);
  const graph = bound && { ...bound.spec, isRow };
  const tiles = Math.ceil(rows / (group.lanes * MATVEC_EACH));
  recorder.launch({
    kernel: alongRows ? matvecRows(params, graph) : matvecColumns({ ...params, atOnce }, graph),
    storage: { a: a.span, b: b.span, c: result.span, ...bound?.storage },
    moving: { c: ['c_start', BYTES_OF[c.dtype]] },
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
      ...bound?.uniforms,
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
