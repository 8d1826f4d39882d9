import type { Kernel } from '../kernel.ts';
import { maxLoopTurns } from '../loop-turns.ts';
import type { DeviceTraits } from '../recorder.ts';
import { combine } from './combine.wgsl.ts';
import { direct, DIRECT_LANES, directKeys, MOST_QUERIES } from './direct.wgsl.ts';
import { TILE_KEYS, tiled, tiledLanes, tiledWorkgroupBytes } from './tiled.wgsl.ts';

/** What the choice of a kernel depends on. */
export interface AttentionSizes {
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly headDim: number;
  readonly causal: boolean;
}

/** A kernel and the numbers to launch it with. */
export interface AttentionVariant {
  readonly kernel: Kernel;
  /** Number of workgroups. */
  readonly groups: number;
  /** Parts that the keys are split into, each `splitKeys` long; more than one only where records are written. */
  readonly splits: number;
  readonly splitKeys: number;
}

/** Workgroups that keep a GPU busy. */
const ENOUGH_WORKGROUPS = 128;
/** Fewest keys that are worth a split of their own. */
const LEAST_SPLIT_KEYS = 256;

const HEAD_DIMS = [64, 128, 256] as const;
const QUERIES = [16, 32, 64] as const;

/** The number of parts that a GPU should split the keys into: 1 unless there are few queries and many keys. */
export function chooseSplits(sizes: AttentionSizes, traits: DeviceTraits): number {
  if (traits.isSoftware) return 1;
  const groups = sizes.heads * Math.ceil(sizes.queries / chooseQueries(sizes, traits));
  if (groups >= ENOUGH_WORKGROUPS) return 1;
  const wanted = Math.ceil(ENOUGH_WORKGROUPS / groups);
  return Math.max(1, Math.min(wanted, Math.floor(sizes.keys / LEAST_SPLIT_KEYS)));
}

/** Most keys that one launch can take. */
export function maxKeys(headDim: number, traits: DeviceTraits): number {
  return traits.isSoftware ? directKeys(headDim, maxLoopTurns(traits)) : Infinity;
}

/** The kernel for a shape: `direct` on software devices, else `tiled`. With `partial` it writes records. */
export function chooseVariant(
  sizes: AttentionSizes,
  traits: DeviceTraits,
  { partial, splits }: { readonly partial: boolean; readonly splits: number },
): AttentionVariant {
  const { heads, queries, keys, headDim, causal } = sizes;
  if (traits.isSoftware) {
    const block = queries === 1 ? 1 : MOST_QUERIES;
    const groups = Math.ceil((heads * Math.ceil(queries / block)) / DIRECT_LANES);
    return { kernel: direct({ queries: block, causal, partial }), groups, splits: 1, splitKeys: keys };
  }
  const block = chooseQueries(sizes, traits);
  const columns = HEAD_DIMS.find((most) => most >= headDim) ?? HEAD_DIMS[2];
  const splitKeys = Math.ceil(keys / splits / TILE_KEYS) * TILE_KEYS;
  const used = Math.ceil(keys / splitKeys);
  return {
    kernel: tiled({ queries: block, headDim: columns, partial }),
    groups: heads * Math.ceil(queries / block) * used,
    splits: used,
    splitKeys,
  };
}

/** Every kernel of attention that can be chosen for a device. */
export function attentionKernels(traits: DeviceTraits): readonly Kernel[] {
  const both = [false, true] as const;
  const merging = both.map((partial) => combine({ partial }));
  if (traits.isSoftware) {
    const params = [1, MOST_QUERIES].flatMap((queries) => both.map((causal) => ({ queries, causal })));
    return [...merging, ...params.flatMap((each) => both.map((partial) => direct({ ...each, partial })))];
  }
  const params = fitting(traits).flatMap((queries) => HEAD_DIMS.map((headDim) => ({ queries, headDim })));
  return [...merging, ...params.flatMap((each) => both.map((partial) => tiled({ ...each, partial })))];
}

/** The blocks of queries that a device has invocations and memory for. */
function fitting({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly number[] {
  return QUERIES.filter(
    (queries) =>
      tiledLanes({ queries }) <= maxInvocations &&
      HEAD_DIMS.every((headDim) => tiledWorkgroupBytes({ queries, headDim, partial: false }) <= maxWorkgroupBytes),
  );
}

/** Large blocks read K and V less often; small ones waste less and make more workgroups. */
function chooseQueries({ heads, queries }: AttentionSizes, traits: DeviceTraits): number {
  const blocks = fitting(traits);
  const enough = blocks.filter((block) => heads * Math.ceil(queries / block) >= ENOUGH_WORKGROUPS).at(-1);
  const least = blocks.find((block) => block >= Math.min(queries, 32)) ?? QUERIES[0];
  return Math.max(enough ?? 0, least);
}
