import type { CheckedConv2d } from '@concord/backend-core/implement';
import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import type { DirectParams } from './direct.spv.ts';
import { type ImplicitGemmParams, implicitGemmLanes, implicitGemmLocalBytes } from './implicit-gemm.spv.ts';
import { isOwnLayout, wideLayout } from './layout.ts';
import { type WideParams, widePlaces } from './wide.spv.ts';

/** The kernel for a call, with the parameters that it is made with. */
export type Conv2dVariant = NamedVariant & Way;

type Way =
  | ({ readonly kind: 'direct' } & DirectParams)
  | ({ readonly kind: 'implicit-gemm' } & ImplicitGemmParams)
  | ({ readonly kind: 'wide'; readonly outputRows: number } & WideParams);

/** The maximum number of bytes of images that `wide` has laid out at a time, where the device allocates that much. */
const PACKED_BYTES = 2 ** 26;
/** Filters per group up to which a tile of a matrix product would be mostly empty. */
const FEW_FILTERS = 8;
/** Groups of work-items per compute unit that keep a GPU busy: a larger tile is taken only if that many are left. */
const ENOUGH_GROUPS = 4;
/** The minimum part of what `wide` computes that has to be some of the output. */
const MIN_USE = 1 / 12;
/** Largest growth of the images by laying them out. */
const MAX_GROWTH = 8;

/** The sizes that `direct` can be made with, fewest filters first. */
export const DIRECT: readonly DirectParams[] = [{ filters: 1 }, { filters: 8 }];
/** The sizes that `implicit-gemm` can be made with, the largest tile first. */
export const TILES: readonly ImplicitGemmParams[] = [
  { tile: 128, piece: 8 },
  { tile: 64, piece: 4 },
  { tile: 32, piece: 4 },
];
/** The sizes that `wide` can be made with; more sums than these do not fit the registers. */
export const WIDE: readonly WideParams[] = [
  { filters: 8, vectors: 3 },
  { filters: 8, vectors: 2 },
  { filters: 16, vectors: 1 },
  { filters: 4, vectors: 4 },
  { filters: 1, vectors: 4 },
];

/** The maximum number of bytes of images that are laid out at a time on a device. A block of places may go on after them. */
export function packedBytes({ maxAllocationBytes }: DeviceTraits): number {
  return Math.min(PACKED_BYTES, maxAllocationBytes - 4 * Math.max(...WIDE.map(widePlaces)));
}

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...TILES.map((params) => idOf({ kind: 'implicit-gemm', ...params })),
  ...WIDE.map((params) => idOf({ kind: 'wide', outputRows: 1, ...params })),
  ...DIRECT.map((params) => idOf({ kind: 'direct', ...params })),
];

/**
 * The kernels that can convolve, the best first as far as is known: `wide` on CPUs and `implicit-gemm` on GPUs, where they take the shape
 * and are worth it; else `direct`.
 */
export function variantsFor(call: CheckedConv2d, traits: DeviceTraits): VariantQuestion<Conv2dVariant> {
  const { ways, isWorthwhile } = traits.isCpuLike ? wideWays(call, traits) : tileWays(call, traits);
  const direct = directWays(call);
  const candidates = (isWorthwhile ? [...ways, ...direct] : [...direct, ...ways]).map(named);
  return { shapeClass: () => shapeClassOf(call), candidates, preferred: candidates[0] as Conv2dVariant };
}

/** A way with its id. */
export function named(way: Way): Conv2dVariant {
  return { id: idOf(way), ...way };
}

function idOf(way: Way): string {
  if (way.kind === 'direct') return `conv2d/direct-${way.filters}`;
  if (way.kind === 'implicit-gemm') return `conv2d/implicit-gemm-${way.tile}`;
  return `conv2d/wide-${way.filters}x${widePlaces(way)}`;
}

function shapeClassOf({ inputShape, filterShape, outputShape, groups }: CheckedConv2d): string {
  const [filters, channels, filterHeight, filterWidth] = filterShape;
  const places = inputShape[0] * outputShape[2] * outputShape[3];
  const steps = [groups, filters / groups, channels, places].map(sizeStep);
  return `conv2d ${filterHeight}x${filterWidth} ${steps.join(' ')}`;
}

/** Ways of one kind, best first, and whether they are better than `direct`. */
interface Ways {
  readonly ways: readonly Way[];
  readonly isWorthwhile: boolean;
}

const NONE: Ways = { ways: [], isWorthwhile: false };

function directWays({ filterShape, groups }: CheckedConv2d): readonly Way[] {
  const bestFirst = filterShape[0] / groups >= FEW_FILTERS ? [...DIRECT].reverse() : DIRECT;
  return bestFirst.map((params) => ({ kind: 'direct', ...params }));
}

function tileWays(call: CheckedConv2d, traits: DeviceTraits): Ways {
  const { filterShape, outputShape, groups } = call;
  if (!fitsIn32Bits(call)) return NONE;
  const filters = filterShape[0] / groups;
  const places = outputShape[0] * outputShape[2] * outputShape[3];
  const groupsOf = ({ tile }: ImplicitGemmParams): number =>
    groups * Math.ceil(filters / tile) * Math.ceil(places / tile);
  const fitting = TILES.filter(
    (each) => implicitGemmLanes(each) <= traits.maxGroupSize && implicitGemmLocalBytes(each) <= traits.maxLocalBytes,
  );
  const busy = fitting.find((each) => filters > each.tile / 2 && groupsOf(each) >= ENOUGH_GROUPS * traits.computeUnits);
  const best = busy ?? fitting.at(-1);
  if (best === undefined) return NONE;
  const ways = [best, ...fitting.filter((each) => each !== best)];
  return { ways: ways.map((each) => ({ kind: 'implicit-gemm', ...each })), isWorthwhile: filters >= FEW_FILTERS };
}

/** Coordinates and offsets in a group of channels, those in the padding included, modulo 2^32 without coinciding. */
function fitsIn32Bits({ inputShape, filterShape, outputShape, padding, dilation, groups }: CheckedConv2d): boolean {
  const [, channels, height, width] = inputShape;
  const [, , filterHeight, filterWidth] = filterShape;
  const sizes = [
    (channels / groups) * height * width,
    (channels / groups) * filterHeight * filterWidth,
    outputShape[2] * outputShape[3],
    height + padding[0] + padding[2] + filterHeight * dilation[0],
    width + padding[1] + padding[3] + filterWidth * dilation[1],
  ];
  return sizes.every((size) => size < 2 ** 31);
}

function wideWays(call: CheckedConv2d, traits: DeviceTraits): Ways {
  const { inputShape, filterShape, outputShape, stride, groups } = call;
  const filters = filterShape[0] / groups;
  if (!fitsIn32Bits(call) || stride.some((size) => size >= 2 ** 31)) return NONE;
  const outputRows = rowsAtATime(call, packedBytes(traits));
  if (outputRows === 0) return NONE;
  const { places, channelPitch } = wideLayout(call, outputRows);
  const growth = channelPitch / Math.max(inputShape[2] * inputShape[3], places);
  if (!isOwnLayout(call) && growth > MAX_GROWTH) return NONE;
  const sums = (params: WideParams): number => {
    const block = widePlaces(params);
    return Math.ceil(filters / params.filters) * params.filters * Math.ceil(places / block) * block;
  };
  // The fewer sums to an input or weight, the more loads.
  const work = (params: WideParams): number => sums(params) * (1 + 2 / params.filters + 1 / params.vectors);
  const bestFirst = [...WIDE].sort((x, y) => work(x) - work(y));
  const use = (filters * outputRows * outputShape[3]) / sums(bestFirst[0] as WideParams);
  return { ways: bestFirst.map((params) => ({ kind: 'wide', outputRows, ...params })), isWorthwhile: use >= MIN_USE };
}

/** Output rows whose images, laid out for one group of channels, fit: all, or as many as do. */
function rowsAtATime(call: CheckedConv2d, limit: number): number {
  const { inputShape, outputShape, groups } = call;
  const channels = inputShape[1] / groups;
  if (isOwnLayout(call)) return outputShape[2];
  const bytes = (rows: number): number => 4 * channels * wideLayout(call, rows).channelPitch;
  if (bytes(outputShape[2]) <= limit) return outputShape[2];
  const perRow = bytes(2) - bytes(1);
  return Math.max(0, Math.floor((limit - (bytes(1) - perRow)) / perRow));
}
