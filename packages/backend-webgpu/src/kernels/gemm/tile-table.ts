import type { DeviceTraits } from '../recorder.ts';
import { type Tile, tileBytes, tileInvocations } from './tile.ts';

/** A tile for GPUs and what it costs. */
export interface RatedTile {
  readonly id: string;
  readonly tile: Tile;
  readonly cost: TileCost;
}

/** Nanoseconds as measured on an H200, of which only the ratios matter. */
export interface TileCost {
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

/** The cost of adding up the results of splits, and of each further split. */
const FINISH = 9000;
const FINISH_SPLIT = 180;
/** The cost of an epilogue that comes after that, as a separate kernel. */
const EPILOGUE_AFTER = 11_000;
/** The minimum number of terms of a split. */
const MIN_DEPTH = 128;

/** Sizes of a batch of products. */
export interface ProductSizes {
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
  const costWith = (splits: number): number => {
    const perCore = Math.ceil((groups * splits) / CORES);
    const ofTerm = Math.max(cost.alone, cost.packed * perCore);
    const after = hasEpilogue === true ? EPILOGUE_AFTER : 0;
    const finish = splits > 1 ? FINISH + FINISH_SPLIT * splits + after : 0;
    return perCore > (cost.most ?? perCore) ? Infinity : perCore * cost.start + Math.ceil(k / splits) * ofTerm + finish;
  };
  const whole = { splits: 1, total: costWith(1) };
  const splits = Math.min(Math.floor(CORES / groups), Math.floor(k / MIN_DEPTH));
  if (splits < 2) return whole;
  const split = { splits, total: costWith(splits) };
  return split.total < whole.total ? split : whole;
}

/** See {@link costOf}. */
export interface Costs {
  readonly splits: number;
  readonly total: number;
}
