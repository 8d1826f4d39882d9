import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import {
  ADD_SPLITS_GROUP,
  addSplits,
  type Fit,
  FITS,
  implicitGemm,
  implicitGemmBytes,
  implicitGemmLanes,
  iterationTaps,
  type Tile,
} from './implicit-gemm.wgsl.ts';
import { MAX_COLUMNS, MAX_ROWS } from './input-strip.ts';
import { type Conv2dShape, type Conv2dTable, placesOf, type Variant } from './table.ts';

/** Tiles for GPUs, and how fast each is where it fits: on an NVIDIA H200, but the last is a guess. Of equals the first is taken. */
const TILE_SPEEDS: readonly (readonly [Tile, number])[] = [
  [{ filters: 128, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 128, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 1],
  [{ filters: 64, places: 64, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.88],
  [{ filters: 32, places: 128, step: 8, laneFilters: 8, lanePlaces: 8 }, 0.7],
];

/** Multiprocessors of the GPU that was measured: WebGPU does not tell. Where it is wrong, the choice is merely less good. */
const MULTIPROCESSORS = 132;
/** Iterations of a range of taps. */
const MIN_ITERATIONS = 8;
const MAX_SPLITS = 48;
/** It takes as long as this many taps to write the sum over a range and to add it up. */
const TAPS_OF_SUM = 40;
const FLOAT_BYTES = 4;

const TILE_OF: ReadonlyMap<string, Tile> = new Map(TILE_SPEEDS.map(([tile]) => [idOf(tile), tile]));

/** Convolution as a product whose second matrix is never stored: for GPUs. */
export const implicitGemmTable: Conv2dTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) => {
    if (traits.isSoftware) return [];
    const products = tilesOn(traits).flatMap(([tile]) =>
      FITS.map((fit) => implicitGemm({ tile, ...fit, isClamped: !traits.checksBounds })),
    );
    return [...products, addSplits];
  },
  candidates: (shape, traits) => {
    const [first, ...others] = traits.isSoftware ? [] : tilesOn(traits).map((rated) => scored(rated, shape, traits));
    if (first === undefined) return undefined;
    const best = others.reduce((before, each) => (each.score > before.score ? each : before), first);
    return { variants: [first, ...others].map(({ variant }) => variant), preferred: best.variant, rank: best.score };
  },
  launch: ({ shape, input, weights, output, uniforms }, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { id, splits: wanted } = variant;
    const taps = shape.channels * shape.filterHeight * shape.filterWidth;
    const perIteration = iterationTaps(tile);
    const depth = Math.ceil(taps / wanted / perIteration) * perIteration;
    const splits = Math.ceil(taps / depth);
    const isClamped = !recorder.traits.checksBounds;
    const kernel = implicitGemm({ tile, ...fitOf(shape, taps % perIteration === 0), isClamped });
    const ofTile = { ...uniforms, image_places: shape.outputRows * shape.outputWidth, depth };
    const groups = splits * tilesOf(tile, shape);
    if (splits === 1) {
      const storage = { input, weights, output };
      recorder.launch({ kernel, storage, uniforms: { ...ofTile, output_split: 0 }, groups, variant: id });
      return;
    }
    // The output of a window lies in one piece.
    const entries = shape.images * shape.groups * shape.filters * shape.outputRows * shape.outputWidth;
    const sums = recorder.scratch(splits * entries * FLOAT_BYTES);
    recorder.launch({
      kernel,
      storage: { input, weights, output: sums },
      uniforms: { ...ofTile, output_split: entries, output_at: 0, accumulate: 0 },
      groups,
      variant: id,
    });
    recorder.launch({
      kernel: addSplits,
      storage: { sums, output },
      uniforms: { ...uniforms, entries, splits },
      groups: Math.ceil(entries / ADD_SPLITS_GROUP),
    });
  },
};

/** The checks that the kernel need not make. */
function fitOf(shape: Conv2dShape, isWhole: boolean): Fit {
  if (isWhole && !shape.isPadded) return { padding: 'none', isWhole };
  const isSmall = shape.filterHeight <= MAX_ROWS && shape.filterWidth <= MAX_COLUMNS;
  return isSmall ? { padding: 'sets', isWhole } : { padding: 'coordinates', isWhole: false };
}

function idOf({ filters, places, step }: Tile): string {
  return `conv2d/implicit-gemm-${filters}x${places}x${step}`;
}

/** The tiles that a device has room for. */
function tilesOn({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): typeof TILE_SPEEDS {
  return TILE_SPEEDS.filter(
    ([tile]) => implicitGemmLanes(tile) <= maxInvocations && implicitGemmBytes(tile) <= maxWorkgroupBytes,
  );
}

/** A tile with the number of ranges that suits it, and how fast that should be. */
function scored(
  [tile, speed]: (typeof TILE_SPEEDS)[number],
  shape: Conv2dShape,
  traits: DeviceTraits,
): { readonly variant: Variant; readonly score: number } {
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
  return { variant: { id: idOf(tile), splits }, score };
}

/** Workgroups for one range of taps. */
function tilesOf(tile: Tile, shape: Conv2dShape): number {
  return shape.groups * Math.ceil(shape.filters / tile.filters) * Math.ceil(placesOf(shape) / tile.places);
}
