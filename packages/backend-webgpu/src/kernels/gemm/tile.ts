import type { DeviceTraits } from '../recorder.ts';
import { MAX_SCRATCH_BYTES } from './product.ts';

/** Shape of a workgroup's tile. */
export interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time. */
  readonly step: number;
  /** Entries of C that one invocation computes, along m and along n: multiples of 4. */
  readonly laneM: number;
  readonly laneN: number;
  /**
   * The number of buffers: with 2 the next step is put in place while this one is used, and one barrier a step will do.
   */
  readonly buffers: 1 | 2;
  /**
   * The number of slices: with 2 each half of a step, a multiple of 4 terms, is multiplied by separate invocations, and
   * their sums are combined at the end: twice the invocations for a small C.
   */
  readonly slices: 1 | 2;
}

/**
 * The known facts about the shape. `full`: all sizes are multiples of the tile's, rows begin and end at multiples of four.
 * `wide`: only the latter. `any`: nothing.
 */
export type Fit = 'full' | 'wide' | 'any';

/** The number that k must be a multiple of for `full`. */
export function wholeIteration({ step, buffers }: Tile): number {
  return step * buffers;
}

/** Invocations of a workgroup. */
export function tileInvocations(tile: Tile): number {
  return lanesOf(tile) * tile.slices;
}

/** Invocations that share the tile's entries. */
export function lanesOf({ m, n, laneM, laneN }: Tile): number {
  return (m / laneM) * (n / laneN);
}

/** Bytes of workgroup memory. */
function tileBytes(tile: Tile): number {
  const { m, n, step, buffers } = tile;
  return stripBytes(m, step, buffers) + stripBytes(n, step, buffers) + combineBytes(tile);
}

/** Rows of an invocation's sums that are combined at a time. */
export const COMBINE_ROWS = 4;

/** Bytes of workgroup memory in which the second slice gives its sums to the first. */
function combineBytes(tile: Tile): number {
  return tile.slices === 1 ? 0 : lanesOf(tile) * COMBINE_ROWS * tile.laneN * 4;
}

/** Bytes of workgroup memory for a strip. */
function stripBytes(size: number, step: number, buffers: number): number {
  return (size / 4 + PAD) * 16 * step * buffers;
}

/** Vectors that are left free after each term, so that the terms of a row lie in different banks. */
export const PAD = 1;

/** A tile for GPUs and what it costs. */
interface RatedTile {
  readonly id: string;
  readonly tile: Tile;
  readonly cost: TileCost;
}

/** Nanoseconds as measured on an H200, of which only the ratios matter. */
interface TileCost {
  /** The time of a workgroup besides its terms: the latency of the first strip is not hidden, sums are combined and stored. */
  readonly start: number;
  /** A term where a core of the GPU has one workgroup only, and waits more than it computes. */
  readonly alone: number;
  /** A term of each workgroup where a core has several. */
  readonly packed: number;
  /** Workgroups per core from which on it is slower than these figures say. */
  readonly most?: number;
}

/** Tiles for GPUs, largest first. The larger one computes more with each value it reads, the smaller one leaves no core idle. */
export const TILES: readonly RatedTile[] = [
  rated({ m: 128, n: 128, step: 8, laneM: 8, laneN: 8, buffers: 2, slices: 1 }, { start: 1200, alone: 95, packed: 89 }),
  rated(
    { m: 64, n: 64, step: 16, laneM: 8, laneN: 4, buffers: 2, slices: 1 },
    { start: 700, alone: 30, packed: 26.3, most: 2 },
  ),
  rated({ m: 64, n: 64, step: 8, laneM: 8, laneN: 4, buffers: 2, slices: 1 }, { start: 250, alone: 34, packed: 27.5 }),
  rated({ m: 32, n: 64, step: 16, laneM: 8, laneN: 4, buffers: 2, slices: 2 }, { start: 300, alone: 18.8, packed: 18 }),
  rated(
    { m: 32, n: 32, step: 32, laneM: 4, laneN: 4, buffers: 2, slices: 2 },
    { start: 500, alone: 11.5, packed: 11.5 },
  ),
  rated({ m: 32, n: 32, step: 16, laneM: 4, laneN: 4, buffers: 1, slices: 1 }, { start: 50, alone: 19, packed: 10.7 }),
];

/** The tiles that are worth it on a device, and that it has room for, largest first. */
export function tilesOn({ isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly RatedTile[] {
  if (isSoftware) return [];
  return TILES.filter(({ tile }) => tileInvocations(tile) <= maxInvocations && tileBytes(tile) <= maxWorkgroupBytes);
}

function rated(tile: Tile, cost: TileCost): RatedTile {
  return { id: `gemm/tiled-${tile.m}x${tile.n}x${tile.step}`, tile, cost };
}

/** Cores of a large GPU: a choice between tiles, or to split k, is made such that there is work for this many. */
const CORES = 128;

/** The cost of adding up the results of splits, of each further split, and of an entry of C that one leaves or takes. */
const FINISH = 9000;
const FINISH_SPLIT = 180;
const FINISH_ENTRY = 0.001;
/** The cost of an epilogue that comes after that, as a separate kernel. */
const EPILOGUE_AFTER = 11_000;
/** The minimum number of terms of a split. */
const MIN_DEPTH = 128;
/** Splits that are tried where there is a workgroup for most cores without any. */
const MAX_SPLITS = 8;

/** Sizes of a batch of products. */
interface ProductSizes {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batchCount: number;
  /** An epilogue is applied to what comes out. Default: none. */
  readonly hasEpilogue?: boolean | undefined;
}

/** The cost of a product with a tile, with the best split of k. */
export function costOf({ tile, cost }: RatedTile, { m, n, k, batchCount, hasEpilogue }: ProductSizes): Costs {
  const groups = batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
  const entries = batchCount * m * n;
  const costWith = (splits: number): number => {
    const perCore = Math.ceil((groups * splits) / CORES);
    const ofTerm = Math.max(cost.alone, cost.packed * perCore);
    const after = hasEpilogue === true ? EPILOGUE_AFTER : 0;
    const sums = FINISH_ENTRY * entries * (splits + 1);
    const finish = splits > 1 ? FINISH + FINISH_SPLIT * splits + sums + after : 0;
    return perCore > (cost.most ?? perCore) ? Infinity : perCore * cost.start + Math.ceil(k / splits) * ofTerm + finish;
  };
  const most = Math.floor(k / MIN_DEPTH);
  const few = Math.min(Math.floor(CORES / groups), most);
  // With work for most cores already, shorter workgroups leave fewer of them idle at the end.
  const tried =
    few > 1
      ? [few]
      : [2, 3, 4, 5, 6, 7, MAX_SPLITS].filter((splits) => splits <= most && 4 * splits * entries <= MAX_SCRATCH_BYTES);
  const all = [1, ...tried].map((splits) => ({ splits, total: costWith(splits) }));
  return all.reduce((best, each) => (each.total < best.total ? each : best));
}

/** See {@link costOf}. */
interface Costs {
  readonly splits: number;
  readonly total: number;
}
