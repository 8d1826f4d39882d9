import type { DeviceTraits } from '../recorder.ts';
import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import type { DirectParams } from './direct.wgsl.ts';
import { implicitGemmBytes, implicitGemmLanes, iterationTaps, type Tile } from './implicit-gemm.wgsl.ts';

/** The facts that decide which kernel is chosen, of a convolution or of a window of it. */
export interface Conv2dShapeTraits {
  readonly groups: number;
  /** Per group. */
  readonly filters: number;
  /** Per group. */
  readonly channels: number;
  readonly images: number;
  /** Of each image. */
  readonly outputRows: number;
  readonly outputWidth: number;
  readonly filterHeight: number;
  readonly filterWidth: number;
  readonly strideW: number;
  readonly dilationW: number;
  readonly isPadded: boolean;
}

/** A kernel family with its block of the output, and into how many ranges the taps are split. */
export type Variant = NamedVariant & Way;

type Way =
  | { readonly kind: 'direct'; readonly block: DirectBlock }
  | { readonly kind: 'implicit-gemm'; readonly tile: Tile; readonly splits: number };

/** The outputs that an invocation of `direct` computes. */
export type DirectBlock = Pick<DirectParams, 'filters' | 'columns'>;

/** Tiles for GPUs, and how fast each is where it fits: on an NVIDIA H200, but the last is a guess. Of equals the first is taken. */
const TILE_SPEEDS: readonly (readonly [Tile, number])[] = [
  [{ filters: 128, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 128, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.88],
  [{ filters: 32, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.7],
];

/** Tiles for GPUs. */
export const TILES: readonly Tile[] = TILE_SPEEDS.map(([tile]) => tile);

/** Blocks for GPUs and for software devices. */
export const DIRECT_BLOCKS: readonly DirectBlock[] = [
  { filters: 1, columns: 4 },
  { filters: 4, columns: 4 },
];
export const SOFTWARE_BLOCKS: readonly DirectBlock[] = [
  { filters: 1, columns: 1 },
  { filters: 1, columns: 8 },
  { filters: 8, columns: 1 },
  { filters: 8, columns: 8 },
];

/** Filters per group up to which a tile of a matrix product would be mostly empty. */
const FEW_FILTERS = 8;
/** Multiprocessors of the GPU that was measured: WebGPU does not tell. Where it is wrong, the choice is merely less good. */
const MULTIPROCESSORS = 132;
/** Iterations of a range of taps. */
const MIN_ITERATIONS = 8;
const MAX_SPLITS = 48;
/** It takes as long as this many taps to write the sum over a range and to add it up. */
const TAPS_OF_SUM = 40;
const FLOAT_BYTES = 4;

const GEMMS: readonly GemmTile[] = TILE_SPEEDS.map(([tile, speed]) => ({
  id: idOf({ kind: 'implicit-gemm', tile, splits: 1 }),
  tile,
  speed,
  invocations: implicitGemmLanes(tile),
  bytes: implicitGemmBytes(tile),
}));

interface GemmTile extends NamedVariant {
  readonly tile: Tile;
  readonly speed: number;
  readonly invocations: number;
  /** Of workgroup memory. */
  readonly bytes: number;
}

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...[...DIRECT_BLOCKS, ...SOFTWARE_BLOCKS].map((block) => idOf({ kind: 'direct', block })),
  ...GEMMS.map(({ id }) => id),
];

/** The kernels that can compute a convolution, and the best as far as is known. */
export function variantsFor(shape: Conv2dShapeTraits, traits: DeviceTraits): VariantQuestion<Variant> {
  const { groups, filters, channels, outputWidth, filterHeight, filterWidth } = shape;
  const shapeClass = (): string => {
    const steps = [groups, filters, channels, placesOf(shape)].map(sizeStep);
    return `conv2d ${filterHeight}x${filterWidth} ${steps.join(' ')}`;
  };
  if (traits.isSoftware) {
    const columns = outputWidth === 1 ? 1 : 8;
    const preferred = directVariant({ filters: filters === 1 ? 1 : 8, columns });
    return { shapeClass, candidates: [preferred], preferred };
  }
  const direct = directVariant({ filters: filters === 1 ? 1 : 4, columns: 4 });
  const gemms = possibleGemms(traits).map((gemm) => gemmVariant(gemm, shape, traits));
  const candidates = [...gemms.map(({ variant }) => variant), direct];
  if (filters <= FEW_FILTERS) return { shapeClass, candidates, preferred: direct };
  let best = { variant: direct, score: 0 };
  for (const gemm of gemms) if (gemm.score > best.score) best = gemm;
  return { shapeClass, candidates, preferred: best.variant };
}

/** The tiles that a device has room for. */
export function possibleTiles(traits: DeviceTraits): readonly Tile[] {
  return possibleGemms(traits).map(({ tile }) => tile);
}

function possibleGemms({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly GemmTile[] {
  return GEMMS.filter(({ invocations, bytes }) => invocations <= maxInvocations && bytes <= maxWorkgroupBytes);
}

function directVariant(block: DirectBlock): Variant {
  const way = { kind: 'direct', block } as const;
  return { id: idOf(way), ...way };
}

interface Scored {
  readonly variant: Variant;
  readonly score: number;
}

/** A tile with the number of ranges that suits it, and how fast that should be. */
function gemmVariant({ id, tile, speed }: GemmTile, shape: Conv2dShapeTraits, traits: DeviceTraits): Scored {
  const { groups, filters, channels, filterHeight, filterWidth } = shape;
  const places = placesOf(shape);
  const tiles = tilesOf(tile, shape);
  const useful = (groups * filters * places) / (tiles * tile.filters * tile.places);
  const taps = channels * filterHeight * filterWidth;
  const sumsThatFit = Math.floor(traits.maxBindingBytes / FLOAT_BYTES / (groups * filters * places));
  const max = Math.max(1, Math.min(MAX_SPLITS, sumsThatFit, Math.floor(taps / iterationTaps(tile) / MIN_ITERATIONS)));
  let splits = 1;
  let score = 0;
  for (let count = 1; count <= max; count++) {
    // All multiprocessors work as long as the one that has the most to do.
    const each = (tiles * count) / MULTIPROCESSORS;
    const sums = count > 1 ? TAPS_OF_SUM * count : 0;
    const countScore = speed * useful * (each / Math.ceil(each)) * (taps / (taps + sums));
    if (countScore <= score) continue;
    score = countScore;
    splits = count;
  }
  return { variant: { id, kind: 'implicit-gemm', tile, splits }, score };
}

/** Workgroups for one range of taps. */
export function tilesOf(tile: Tile, shape: Conv2dShapeTraits): number {
  return shape.groups * Math.ceil(shape.filters / tile.filters) * Math.ceil(placesOf(shape) / tile.places);
}

function placesOf({ images, outputRows, outputWidth }: Conv2dShapeTraits): number {
  return images * outputRows * outputWidth;
}

function idOf(way: Way): string {
  if (way.kind === 'direct') return `conv2d/direct-${way.block.filters}x${way.block.columns}`;
  const { filters, places, step } = way.tile;
  return `conv2d/implicit-gemm-${filters}x${places}x${step}`;
}
