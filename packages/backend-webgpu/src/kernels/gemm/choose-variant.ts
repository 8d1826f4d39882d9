import type { DeviceTraits } from '../recorder.ts';
import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import type { DirectTile } from './direct.wgsl.ts';
import { MATRIX_UNITS_IDS } from './matrix-units.ts';
import type { MatrixUnitsTile } from './matrix-units.wgsl.ts';
import { MATVEC_EACH, type MatvecGroup } from './matvec-kernel.ts';
import type { Product } from './product.ts';
import { costOf, type RatedTile, TILES } from './tile-table.ts';
import { type Tile, tileBytes, tileInvocations } from './tiled.wgsl.ts';

/** What the choice of a kernel depends on besides the device. */
export type ProductShape = Pick<Product, 'm' | 'n' | 'k' | 'batchCount' | 'transA' | 'transB' | 'a'>;

/** A kernel family with its tile, and into how many ranges k is split. */
export type Variant = NamedVariant & { readonly splits: number } & Way;

/** A kernel family with its tile. */
type Way =
  | { readonly kind: 'tiled'; readonly tile: Tile }
  | { readonly kind: 'matrix-units'; readonly tile: MatrixUnitsTile }
  | { readonly kind: 'direct'; readonly tile: DirectTile }
  | { readonly kind: 'matvec'; readonly group: MatvecGroup };

const SMALLEST_DIRECT_TILE: DirectTile = { rows: 4, columns: 4 };

/** Tiles for software devices, largest first: larger ones compute faster and compile slower. */
export const DIRECT_TILES: readonly DirectTile[] = [
  { rows: 8, columns: 16 },
  { rows: 8, columns: 8 },
  SMALLEST_DIRECT_TILE,
];

/** Tiles of C that are worth the larger tile, and worth its compilation. */
const ENOUGH_DIRECT_TILES = 512;

/**
 * Workgroups for a product with a vector, by how M lies: on GPUs smallest team first, and on software devices.
 */
export const MATVEC_GROUPS: Readonly<Record<'rows' | 'columns' | 'software', readonly MatvecGroup[]>> = {
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
  software: [{ lanes: 64, team: 1 }],
};

/** Invocations with which a product with a vector keeps the memory of a large GPU busy, and more than which are no use. */
const ENOUGH_INVOCATIONS = 131_072;
const MOST_INVOCATIONS = 196_608;
/** Least number of terms of one member of a team, and those for which a split is worth to be finished. */
const LEAST_DEPTH_OF_MEMBER = 4;
const LEAST_SPLIT_OF_MEMBER = 64;

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...TILES.map(({ id }) => id),
  ...MATRIX_UNITS_IDS,
  ...DIRECT_TILES.map((tile) => idOf({ kind: 'direct', tile })),
  ...Object.values(MATVEC_GROUPS)
    .flat()
    .map((group) => idOf({ kind: 'matvec', group })),
];

/** What can compute a product, and what is best as far as is known. */
export function variantsFor(shape: ProductShape, traits: DeviceTraits): VariantQuestion<Variant> {
  const { m, n, k, batchCount, transA, transB, a } = shape;
  const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  const shapeClass = (): string => `gemm ${a.dtype} ${letters} ${[m, n, k, batchCount].map(sizeStep).join(' ')}`;
  if (m === 1 || n === 1) {
    const candidates = matvecVariants(shape, traits);
    return { shapeClass, candidates, preferred: bestMatvec(shape, candidates) };
  }
  const tiled = traits.isSoftware ? [] : tiledVariants(shape, traits);
  const [cheapest] = [...tiled].sort(([, cost], [, other]) => cost - other);
  if (cheapest === undefined) return { shapeClass, candidates: directVariants(), preferred: bestDirect(shape) };
  return { shapeClass, candidates: tiled.map(([variant]) => variant), preferred: cheapest[0] };
}

function directVariants(): readonly Variant[] {
  return DIRECT_TILES.map((tile) => named({ kind: 'direct', tile }, 1));
}

function bestDirect({ m, n }: ProductShape): Variant {
  const isWorthwhile = ({ rows, columns }: DirectTile): boolean =>
    Math.floor(m / rows) * Math.floor(n / columns) >= ENOUGH_DIRECT_TILES;
  return named({ kind: 'direct', tile: DIRECT_TILES.find(isWorthwhile) ?? SMALLEST_DIRECT_TILE }, 1);
}

type MatvecVariant = Extract<Variant, { kind: 'matvec' }>;

/** Smallest team first. */
function matvecVariants(shape: ProductShape, traits: DeviceTraits): readonly MatvecVariant[] {
  const { n, k, transA, transB } = shape;
  const isSoftware = traits.isSoftware || possibleTiles(traits).length === 0;
  const alongRows = n === 1 ? !transA : transB;
  const groups = MATVEC_GROUPS[isSoftware ? 'software' : alongRows ? 'rows' : 'columns'];
  return groups
    .filter(({ lanes, team }) => lanes * team <= traits.maxInvocations)
    .map((group) => {
      const lacking = Math.floor(ENOUGH_INVOCATIONS / invocationsOf(group, shape));
      const splits = isSoftware
        ? 1
        : Math.max(1, Math.min(lacking, Math.floor(k / (LEAST_SPLIT_OF_MEMBER * group.team))));
      return { id: idOf({ kind: 'matvec', group }), kind: 'matvec', group, splits };
    });
}

/** The largest team that each of its members has something to do in, and the device something to do with. */
function bestMatvec(shape: ProductShape, smallestFirst: readonly MatvecVariant[]): MatvecVariant {
  const fitting = smallestFirst.filter(
    ({ group }) => group.team * LEAST_DEPTH_OF_MEMBER <= shape.k && invocationsOf(group, shape) <= MOST_INVOCATIONS,
  );
  return fitting.at(-1) ?? (smallestFirst[0] as MatvecVariant);
}

function invocationsOf({ lanes, team }: MatvecGroup, { m, n, batchCount }: ProductShape): number {
  return batchCount * Math.ceil(Math.max(m, n) / (lanes * MATVEC_EACH)) * lanes * team;
}

type TiledVariant = Extract<Variant, { kind: 'tiled' }>;

/** Largest tile first, each with what it costs. */
function tiledVariants(shape: ProductShape, traits: DeviceTraits): readonly (readonly [TiledVariant, cost: number])[] {
  return possibleTiles(traits).map((rated) => {
    const { splits, total } = costOf(rated, shape);
    return [{ id: rated.id, kind: 'tiled', tile: rated.tile, splits }, total];
  });
}

/** Tables of tiles have ids of their own. */
type NamedWay = Extract<Way, { kind: 'direct' | 'matvec' }>;

function named(way: NamedWay, splits: number): Variant {
  return { id: idOf(way), splits, ...way };
}

function idOf(way: NamedWay): string {
  if (way.kind === 'direct') return `gemm/direct-${way.tile.rows}x${way.tile.columns}`;
  return `gemm/matvec-${way.group.lanes}x${way.group.team}`;
}

/** The tiles that a device has room for, largest first. */
export function possibleTiles({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly RatedTile[] {
  return TILES.filter(({ tile }) => tileInvocations(tile) <= maxInvocations && tileBytes(tile) <= maxWorkgroupBytes);
}
