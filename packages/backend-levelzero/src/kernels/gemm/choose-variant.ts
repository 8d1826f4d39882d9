import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { MIN_STRIP, matvecGroups, matvecShape, type MatvecWay } from './launch-matvec.ts';
import type { Product, ProductShape } from './product.ts';
import { DIRECT_GROUP } from './direct.spv.ts';
import { canLayOut, isWorthPacking } from './launch-matrix.ts';
import { type EngineLanes, MATRIX_LANES, matrixTile } from './matrix-engine.ts';
import { type SubgroupTile, subgroupTile } from './subgroup.spv.ts';
import { fittingTiles, nameOfTile, SUBGROUP_TILES } from './subgroup-tiles.ts';
import { type Tile, tileBytes, tileGroup } from './tile.ts';
import { LANES, PANEL_COLUMNS, PANEL_ROWS } from './wide-shape.ts';

/** A kernel family with its parameters, and into how many ranges k is split; `wide` goes through k by itself. */
export type Variant = NamedVariant & { readonly splits: number } & Way;

type Way =
  | MatvecWay
  | { readonly kind: 'wide' }
  | { readonly kind: 'direct' }
  | { readonly kind: 'local'; readonly tile: Tile }
  | { readonly kind: 'subgroup'; readonly tile: SubgroupTile }
  | { readonly kind: 'matrix'; readonly lanes: EngineLanes };

/** Tiles for GPUs, largest first. */
export const TILES: readonly Tile[] = [
  { m: 128, n: 64, laneM: 8, laneN: 4 },
  { m: 64, n: 64, laneM: 4, laneN: 4 },
  { m: 32, n: 32, laneM: 4, laneN: 4 },
];

/** Groups for each compute unit of a GPU that keep it busy. */
const GROUPS_EACH = 4;
/** Work-items for each thread of a processor. */
const ITEMS_EACH = 4;
/** The minimum number of terms of a split. */
const MIN_DEPTH = 1024;

/** Products of fewer terms in all, sums times terms, are not worth packing. */
const FEW_TERMS = 8192;
/** This many terms of a wide tile take as long as one of a direct kernel. */
const WIDE_ADVANTAGE = 16;
/**
 * The maximum number of vectors for which a matrix that lies row by row is not packed: it is read from the cache again for each four.
 */
const FEW_VECTORS = 16;
/** Fewer rows or columns than these leave a tile of a GPU mostly empty. */
const FEW_LINES = 8;

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...TILES.map((tile) => idOf({ kind: 'local', tile })),
  ...SUBGROUP_TILES.map((tile) => idOf({ kind: 'subgroup', tile })),
  ...MATRIX_LANES.map((lanes) => idOf({ kind: 'matrix', lanes })),
  ...(['teams', 'vectors'] as const).flatMap((by) =>
    [true, false].map((alongRows) => idOf({ kind: 'matvec', by, alongRows })),
  ),
  idOf({ kind: 'wide' }),
  idOf({ kind: 'direct' }),
];

/** The kernels that can compute a product, the best first as far as is known. */
export function variantsFor(product: Product, traits: DeviceTraits): VariantQuestion<Variant> {
  const { m, n, k, batchCount, transA, transB, a } = product;
  const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  const shapeClass = (): string => `gemm ${a.dtype} ${letters} ${[m, n, k, batchCount].map(sizeStep).join(' ')}`;
  const candidates = traits.isCpuLike ? variantsForProcessor(product, traits) : variantsForGpu(product, traits);
  return { shapeClass, candidates, preferred: candidates[0] as Variant };
}

/** A way with its id. */
export function named<W extends Way>(way: W, splits: number): W & NamedVariant & { readonly splits: number } {
  return Object.assign({ id: idOf(way), splits }, way);
}

function idOf(way: Way): string {
  switch (way.kind) {
    case 'matvec':
      return `gemm/${way.by === 'teams' ? 'team' : 'wide'}-${way.alongRows ? 'rows' : 'columns'}`;
    case 'local':
      return `gemm/local-${way.tile.m}x${way.tile.n}`;
    case 'subgroup':
      return `gemm/subgroup-${nameOfTile(way.tile)}`;
    case 'matrix':
      return `gemm/matrix-${way.lanes}`;
    default:
      return `gemm/${way.kind}`;
  }
}

function variantsForProcessor(shape: ProductShape, { computeUnits }: DeviceTraits): readonly Variant[] {
  const { m, n, k, batchCount } = shape;
  const wanted = ITEMS_EACH * computeUnits;
  const direct = directVariant(shape, wanted);
  const terms = m * n * k;
  const tiles = Math.ceil(m / PANEL_ROWS) * Math.ceil(n / PANEL_COLUMNS);
  const isWorthwhile = tiles * PANEL_ROWS * PANEL_COLUMNS * k <= WIDE_ADVANTAGE * terms;
  const wide = named({ kind: 'wide' }, 1);
  const others = isWorthwhile && terms * batchCount >= FEW_TERMS ? [wide, direct] : [direct, wide];
  const matvec = matvecShape(shape);
  const { alongRows, rows, vectors } = matvec;
  const isFew = alongRows ? vectors <= FEW_VECTORS && rows >= 2 * vectors : vectors === 1 && rows >= MIN_STRIP;
  if (!isFew || k < LANES) return others;
  const groups = batchCount * matvecGroups(matvec, 'vectors');
  return [named({ kind: 'matvec', by: 'vectors', alongRows }, splitsFor(groups, k, wanted)), ...others];
}

function variantsForGpu(product: Product, traits: DeviceTraits): readonly Variant[] {
  const { m, n, k, batchCount } = product;
  const wanted = GROUPS_EACH * traits.computeUnits;
  const direct = directVariant(product, wanted);
  if (m === 1 || n === 1) {
    const matvec = matvecShape(product);
    const groups = batchCount * matvecGroups(matvec, 'teams');
    const { alongRows } = matvec;
    return [named({ kind: 'matvec', by: 'teams', alongRows }, splitsFor(groups, k, wanted)), direct];
  }
  const groupsOf = (tile: Pick<Tile, 'm' | 'n'>): number => batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
  const possible = possibleTiles(traits);
  // Not even the smallest tile makes groups enough where k is split.
  const locals = possible.map((tile) =>
    named({ kind: 'local', tile }, tile === possible.at(-1) ? splitsFor(groupsOf(tile), k, wanted) : 1),
  );
  // Halves with A transposed are rare enough not to have kernels for a part of k.
  const canSplit = product.a.dtype === 'f32' || !product.transA;
  const subgroups = fittingTiles(product, traits).map((tile) =>
    named({ kind: 'subgroup', tile }, canSplit ? splitsFor(groupsOf(subgroupTile(tile)), k, wanted) : 1),
  );
  const isBusy = (tile: Pick<Tile, 'm' | 'n'>): boolean => groupsOf(tile) >= wanted;
  // Without barriers, and with more multiply-adds for each instruction, sub-groups go first.
  const bySize = [
    ...bestFirst(subgroups, ({ tile }) => isBusy(subgroupTile(tile))),
    ...bestFirst(locals, ({ tile }) => isBusy(tile)),
  ];
  const plain = Math.min(m, n) < FEW_LINES ? [direct, ...bySize] : [...bySize, direct];
  const lanes = traits.matrixEngine;
  if (lanes === undefined || product.a.dtype !== 'f16' || !canLayOut(product, lanes, traits)) return plain;
  const matrix = named({ kind: 'matrix', lanes }, splitsFor(groupsOf(matrixTile(lanes)), k, wanted));
  return isWorthPacking(product) ? [matrix, ...plain] : [...plain, matrix];
}

/** From the largest that keeps a device busy, or else the smallest; then the others. */
function bestFirst<T>(largestFirst: readonly T[], isBusy: (candidate: T) => boolean): readonly T[] {
  const best = largestFirst.find(isBusy) ?? largestFirst.at(-1);
  return best === undefined ? [] : [best, ...largestFirst.filter((candidate) => candidate !== best)];
}

function directVariant({ m, n, k, batchCount }: ProductShape, wanted: number): Variant {
  return named({ kind: 'direct' }, splitsFor(Math.ceil((m * n * batchCount) / DIRECT_GROUP), k, wanted));
}

/** The tiles that a device has room for, largest first. */
export function possibleTiles({ maxGroupSize, maxLocalBytes }: DeviceTraits): readonly Tile[] {
  return TILES.filter((tile) => {
    const [x, y] = tileGroup(tile);
    return x * y <= maxGroupSize && tileBytes(tile) <= maxLocalBytes;
  });
}

/** Splits k when there are too few groups, into ranges of at least {@link MIN_DEPTH} terms. */
function splitsFor(groups: number, k: number, wanted: number): number {
  if (groups >= wanted) return 1;
  return Math.max(1, Math.min(Math.ceil(wanted / groups), Math.floor(k / MIN_DEPTH)));
}
