import type { Kernel } from '../kernel.ts';
import { maxLoopIterations } from '../loop-iterations.ts';
import type { DeviceTraits } from '../recorder.ts';
import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import { decode, decodeBytes, DECODE_LANES, type DecodeParams } from './decode.wgsl.ts';
import { decodeRow, decodeRowBytes } from './decode-row.wgsl.ts';
import { direct, DIRECT_LANES, directKeys, MAX_QUERIES } from './direct.wgsl.ts';
import { type Fit, flashBytes, flashLanes, type FlashTile } from './flash-tile.ts';
import { flash } from './flash.wgsl.ts';
import { matrix } from './matrix.wgsl.ts';
import { matrixBytes, type MatrixTile, SUBGROUP, UNIT } from './matrix-tile.ts';
import type { Form } from './form.wgsl.ts';
import { TILE_KEYS, tiled, tiledLanes, type TiledParams, tiledWorkgroupBytes } from './tiled.wgsl.ts';

/** The facts that decide which kernel is chosen. */
export interface AttentionSizes {
  readonly heads: number;
  readonly queries: number;
  readonly keys: number;
  readonly headDim: number;
  readonly causal: boolean;
  readonly form: Form;
  /** Heads of Q that share keys. */
  readonly group: number;
  /** True if rows of Q, K and V begin and end at multiples of eight elements. Default: they do not. */
  readonly byEights?: boolean;
}

/** Shape of a workgroup's work where there are few queries. */
export interface DecodeTile {
  /** Rows of O that share their keys, at a time. */
  readonly rows: 1 | 4 | 8;
  /** Largest head dimension. */
  readonly columns: 64 | 128 | 256;
}

/** A kernel family with its tile, and into how many parts the keys should be split. */
export type AttentionVariant = NamedVariant & { readonly splits: number } & Way;

type Way =
  | { readonly kind: 'matrix'; readonly tile: MatrixTile }
  | { readonly kind: 'flash'; readonly tile: FlashTile }
  | { readonly kind: 'tiled'; readonly tile: Pick<TiledParams, 'queries' | 'headDim'> }
  | { readonly kind: 'decode'; readonly tile: DecodeTile }
  | { readonly kind: 'direct'; readonly queries: number };

/** Tiles of `flash`: those with the largest number of queries in a workgroup first. */
export const FLASH_TILES: readonly FlashTile[] = [
  { queries: 64, keys: 64, columns: 64, across: 8, depth: 16, chunk: 16, unroll: 8, ahead: false },
  { queries: 64, keys: 128, columns: 128, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
  { queries: 32, keys: 64, columns: 64, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
];

/** Tiles of `matrix`. */
export const MATRIX_TILES: readonly MatrixTile[] = [{ queries: 64, keys: 16, columns: 64 }];

/** Blocks of queries of `tiled`. */
export const TILED_QUERIES = [16, 32, 64] as const;
/** Columns of O that `tiled` can keep. */
export const TILED_COLUMNS = [64, 128, 256] as const;

/** Blocks of queries of `direct`. */
export const DIRECT_QUERIES: readonly number[] = [1, MAX_QUERIES];

/** Rows of `decode` at a time, and columns that it has room for. */
export const DECODE_ROWS: readonly DecodeTile['rows'][] = [1, 4, 8];
export const DECODE_COLUMNS: readonly DecodeTile['columns'][] = [64, 128, 256];

/** Workgroups that keep a GPU busy. */
const ENOUGH_WORKGROUPS = 128;
/** And those of a tile with few invocations for its size: they are not alone on a multiprocessor. */
const ENOUGH_LARGE_TILES = 512;
/** Queries for which the smallest block of `tiled` is enough. */
const FEW_QUERIES = 16;
/** Fewest keys that are worth a separate split. */
const MIN_SPLIT_KEYS = 256;
/** Queries that `decode` is for: it reads all keys for each few. */
export const DECODE_QUERIES = 4;
/** Workgroups that keep a GPU reading: of some rows, and of one, which read more at once. */
const ENOUGH_READERS = 192;
const ENOUGH_ROW_READERS = 128;
/** Keys of a split of `decode` are a multiple of this, and at least as many. */
const DECODE_SPLIT_KEYS = 64;

/** This many records are merged in one go: more splits than these have twice as many keys at least. */
const FEW_SPLITS = 8;

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...MATRIX_TILES.map((tile) => idOf({ kind: 'matrix', tile })),
  ...FLASH_TILES.map((tile) => idOf({ kind: 'flash', tile })),
  ...TILED_QUERIES.flatMap((queries) =>
    TILED_COLUMNS.map((headDim) => idOf({ kind: 'tiled', tile: { queries, headDim } })),
  ),
  ...DIRECT_QUERIES.map((queries) => idOf({ kind: 'direct', queries })),
  ...DECODE_ROWS.map((rows) => idOf({ kind: 'decode', tile: { rows, columns: 64 } })),
];

/** The maximum number of keys that one launch can take. */
export function maxKeys(headDim: number, traits: DeviceTraits): number {
  return traits.isSoftware ? directKeys(headDim, maxLoopIterations(traits)) : Infinity;
}

/** The kernels that can compute an attention, and the best as far as is known. */
export function variantsFor(sizes: AttentionSizes, traits: DeviceTraits): VariantQuestion<AttentionVariant> {
  const { heads, queries, keys, headDim, causal, form, group } = sizes;
  const onUnits = possibleMatrix(sizes, traits).map((tile) => withSplits({ kind: 'matrix', tile }, sizes));
  const shapeClass = (): string =>
    `attention ${causal ? 'causal ' : ''}${form === 'plain' ? '' : `any ${form} of ${sizeStep(group)} `}${[heads, queries, keys, headDim].map(sizeStep).join(' ')}${onUnits.length > 0 ? ' by eights' : ''}`;
  if (traits.isSoftware) {
    const candidates = DIRECT_QUERIES.map((block) => named({ kind: 'direct', queries: block }, 1));
    return { shapeClass, candidates, preferred: candidates[queries === 1 ? 0 : 1] as AttentionVariant };
  }
  const flashes = possibleFlash(headDim, traits).map((tile) => withSplits({ kind: 'flash', tile }, sizes));
  const headDims = TILED_COLUMNS.find((max) => max >= headDim) ?? 256;
  const tileds = possibleTiled(traits).map((block) =>
    withSplits({ kind: 'tiled', tile: { queries: block, headDim: headDims } }, sizes),
  );
  const decoding = queries <= DECODE_QUERIES ? possibleDecode(sizes, traits) : [];
  const unit = queries > SUBGROUP ? onUnits[0] : undefined;
  const preferred = decoding[0] ?? unit ?? bestFlash(flashes, sizes) ?? bestTiled(tileds, sizes);
  return { shapeClass, candidates: [...onUnits, ...flashes, ...tileds, ...decoding], preferred };
}

/** Where there are few queries, most of a block of `flash` is wasted. */
function bestFlash(
  largestFirst: readonly AttentionVariant[],
  { heads, queries }: AttentionSizes,
): AttentionVariant | undefined {
  if (queries <= FEW_QUERIES) return undefined;
  const enough = largestFirst.find((each) => heads * Math.ceil(queries / blockOf(each)) >= ENOUGH_LARGE_TILES);
  return enough ?? largestFirst.at(-1);
}

/** Large blocks read K and V less often; small ones waste less and make more workgroups. */
function bestTiled(smallestFirst: readonly AttentionVariant[], { heads, queries }: AttentionSizes): AttentionVariant {
  const isWorthwhile = (each: AttentionVariant): boolean =>
    heads * Math.ceil(queries / blockOf(each)) >= ENOUGH_WORKGROUPS;
  const min = smallestFirst.findIndex((each) => blockOf(each) >= Math.min(queries, 32));
  return (smallestFirst
    .slice(min + 1)
    .filter(isWorthwhile)
    .at(-1) ?? smallestFirst.at(min)) as AttentionVariant;
}

/** Queries of a workgroup, or of an invocation of `direct`. */
function blockOf(way: Way): number {
  if (way.kind === 'direct') return way.queries;
  return way.kind === 'decode' ? 1 : way.tile.queries;
}

/** A kernel and the numbers to launch it with. */
export interface AttentionLaunch {
  readonly kernel: Kernel;
  /** Number of workgroups. */
  readonly groups: number;
  /** The workgroups in each dimension, where the kernel looks at those. */
  readonly grid?: readonly [x: number, y: number, z: number];
  /** Parts that the keys are split into, each `splitKeys` long; more than one only where records are written. */
  readonly splits: number;
  readonly splitKeys: number;
}

/** Options of a launch. */
export interface AttentionOptions {
  readonly splits: number;
  /** Writes records instead of rows of O. */
  readonly partial: boolean;
  /** True if rows begin and end at multiples of four. */
  readonly wide: boolean;
}

/**
 * Returns whether a variant can write rows of O. `f16` ones are written by fours, or by `combine`: neighbours share words. `combine`
 * takes records of every variant.
 */
export function writesRows({ kind }: Pick<Way, 'kind'>, form: Form, wide: boolean): boolean {
  return form !== 'f16' || (wide && (kind === 'matrix' || kind === 'flash' || kind === 'decode'));
}

/** The kernel of a variant for a shape. */
export function launchOf(
  way: Way,
  sizes: AttentionSizes,
  { splits, partial, wide }: AttentionOptions,
): AttentionLaunch {
  const { heads, queries, keys, headDim, causal, form, group } = sizes;
  const blocks = heads * Math.ceil(queries / blockOf(way));
  const fitOf = (columns: number): Fit => (wide ? (headDim === columns ? 'full' : 'wide') : 'any');
  if (way.kind === 'direct') {
    const groups = Math.ceil(blocks / DIRECT_LANES);
    const kernel = direct({ queries: way.queries, causal: causal || form !== 'plain', form, partial });
    return { kernel, groups, splits: 1, splitKeys: keys };
  }
  if (way.kind === 'decode') {
    const splitKeys = Math.ceil(keys / splits / DECODE_SPLIT_KEYS) * DECODE_SPLIT_KEYS;
    const used = Math.ceil(keys / splitKeys);
    const { tile } = way;
    const kernel = decodeKernel(tile, { form: anyForm(form), fit: fitOf(tile.columns), partial });
    const groups = (heads / group) * Math.ceil((group * queries) / tile.rows) * used;
    const own = { kernel, groups, splits: used, splitKeys };
    return tile.rows === 1 ? { ...own, grid: [used, heads * queries, 1] } : own;
  }
  const tileKeys = way.kind === 'tiled' ? TILE_KEYS : way.tile.keys;
  const splitKeys = Math.ceil(keys / splits / tileKeys) * tileKeys;
  const used = Math.ceil(keys / splitKeys);
  let kernel: Kernel;
  if (way.kind === 'matrix') {
    const { tile } = way;
    kernel = matrix({ tile, fit: tile.columns === headDim ? 'full' : 'wide', partial });
  } else if (way.kind === 'flash') {
    const { tile } = way;
    kernel = flash({ tile, fit: fitOf(tile.columns), form, partial });
  } else {
    kernel = tiled({ ...way.tile, form, partial });
  }
  return { kernel, groups: blocks * used, splits: used, splitKeys };
}

/** The kernel of a tile of `decode`. */
export function decodeKernel({ rows, columns }: DecodeTile, params: Omit<DecodeParams, 'tile'>): Kernel {
  return rows === 1 ? decodeRow({ columns, ...params }) : decode({ tile: { rows, columns }, ...params });
}

/** `decode` has kernels for any call only. */
export const anyForm = (form: Form): Exclude<Form, 'plain'> => (form === 'plain' ? 'f32' : form);

/** Returns whether a device has invocations and memory for a tile of `decode`. */
export function hasRoomToDecode(
  { rows, columns }: DecodeTile,
  { maxInvocations, maxWorkgroupBytes }: DeviceTraits,
): boolean {
  const bytes = rows === 1 ? decodeRowBytes(columns) : decodeBytes({ rows, columns });
  return DECODE_LANES <= maxInvocations && bytes <= maxWorkgroupBytes;
}

/** The `decode` kernels for a shape, those that waste no row first, and then those with more rows. */
function possibleDecode(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, keys, headDim, group } = sizes;
  const columns = DECODE_COLUMNS.find((max) => max >= headDim);
  if (columns === undefined) return [];
  const shared = group * queries;
  const tiles = DECODE_ROWS.map((rows): DecodeTile => ({ rows, columns })).filter(
    (tile) => hasRoomToDecode(tile, traits) && (tile.rows > 1 || heads * queries <= traits.maxWorkgroupsPerDimension),
  );
  const enough = tiles.filter(({ rows }) => rows >= shared);
  return [...enough, ...tiles.filter(({ rows }) => rows < shared).reverse()].map((tile) => {
    const groups = (heads / group) * Math.ceil(shared / tile.rows);
    const worthwhile = Math.max(
      Math.min(FEW_SPLITS, Math.ceil(keys / DECODE_SPLIT_KEYS)),
      Math.ceil(keys / (2 * DECODE_SPLIT_KEYS)),
    );
    const enough = tile.rows === 1 ? ENOUGH_ROW_READERS : ENOUGH_READERS;
    const splits = Math.min(Math.ceil(enough / groups), worthwhile);
    return named({ kind: 'decode', tile }, splits);
  });
}

/** The tiles of `matrix` for a shape on a device. */
function possibleMatrix(sizes: AttentionSizes, traits: DeviceTraits): readonly MatrixTile[] {
  const { headDim, form, byEights = false } = sizes;
  if (form !== 'f16' || !byEights) return [];
  return matrixTiles(traits).filter(({ columns }) => columns >= headDim);
}

/** The tiles of `matrix` that a device has matrix units and room for. */
export function matrixTiles(traits: DeviceTraits): readonly MatrixTile[] {
  const { matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes } = traits;
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  if (!fits) return [];
  return MATRIX_TILES.filter((tile) => tile.queries <= maxInvocations && matrixBytes(tile) <= maxWorkgroupBytes);
}

/** The tiles with the fewest columns that will do, as far as the device has room for them. */
function possibleFlash(headDim: number, traits: DeviceTraits): readonly FlashTile[] {
  const possible = FLASH_TILES.filter((tile) => tile.columns >= headDim && fitsDevice(tile, traits));
  const columns = Math.min(...possible.map((tile) => tile.columns));
  return possible.filter((tile) => tile.columns === columns);
}

/** Returns whether a device has invocations and memory for a tile of `flash`. */
export function fitsDevice(tile: FlashTile, { maxInvocations, maxWorkgroupBytes }: DeviceTraits): boolean {
  return flashLanes(tile) <= maxInvocations && flashBytes(tile) <= maxWorkgroupBytes;
}

/** The blocks of queries of `tiled` that a device has invocations and memory for, smallest first. */
export function possibleTiled({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly number[] {
  return TILED_QUERIES.filter(
    (queries) =>
      tiledLanes({ queries }) <= maxInvocations &&
      TILED_COLUMNS.every((headDim) => tiledWorkgroupBytes({ queries, headDim }) <= maxWorkgroupBytes),
  );
}

/** With few queries and many keys, the keys are split. */
function withSplits(way: Way, { heads, queries, keys }: AttentionSizes): AttentionVariant {
  const groups = heads * Math.ceil(queries / blockOf(way));
  const wanted = groups >= ENOUGH_WORKGROUPS ? 1 : Math.ceil(ENOUGH_WORKGROUPS / groups);
  return named(way, Math.max(1, Math.min(wanted, Math.floor(keys / MIN_SPLIT_KEYS))));
}

function named(way: Way, splits: number): AttentionVariant {
  return { id: idOf(way), splits, ...way };
}

function idOf(way: Way): string {
  if (way.kind === 'direct') return `attention/direct-${way.queries}`;
  if (way.kind === 'decode') return `attention/decode-${way.tile.rows}`;
  if (way.kind === 'tiled') return `attention/tiled-${way.tile.queries}x${way.tile.headDim}`;
  const { queries, keys, columns } = way.tile;
  return `attention/${way.kind}-${queries}x${keys}x${columns}`;
}
