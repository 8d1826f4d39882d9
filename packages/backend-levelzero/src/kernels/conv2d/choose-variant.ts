import type { CheckedConv2d } from '@concord/backend-core/implement';
import type { DeviceTraits } from '../recorder.ts';
import type { DirectParams } from './direct.spv.ts';
import { type ImplicitGemmParams, implicitGemmLanes, implicitGemmLocalBytes } from './implicit-gemm.spv.ts';
import { isOwnLayout, wideLayout } from './layout.ts';
import { type WideParams, widePlaces } from './wide.spv.ts';

/** The kernel for a call, with the parameters that it is made with. */
export type Conv2dVariant =
  | ({ readonly kind: 'direct' } & DirectParams)
  | ({ readonly kind: 'implicit-gemm' } & ImplicitGemmParams)
  | ({ readonly kind: 'wide'; readonly outputRows: number } & WideParams);

/** Most bytes of images that `wide` has laid out at a time, where the device allocates that much. */
const PACKED_BYTES = 2 ** 26;
/** Filters per group up to which a tile of a matrix product would be mostly empty. */
const FEW_FILTERS = 8;
/** Groups of work-items per compute unit that keep a GPU busy: a larger tile is taken only if that many are left. */
const ENOUGH_GROUPS = 4;
/** Least part of what `wide` computes that has to be some of the output. */
const LEAST_USE = 1 / 12;
/** Largest growth of the images by laying them out. */
const MOST_GROWTH = 8;

/** What `direct` can be made with. */
export const DIRECT: readonly DirectParams[] = [{ filters: 1 }, { filters: 8 }];
/** What `implicit-gemm` can be made with, the largest tile first. */
export const TILES: readonly ImplicitGemmParams[] = [
  { tile: 128, piece: 8 },
  { tile: 64, piece: 4 },
  { tile: 32, piece: 4 },
];
/** What `wide` can be made with; more sums than these do not fit the registers. */
export const WIDE: readonly WideParams[] = [
  { filters: 8, vectors: 3 },
  { filters: 8, vectors: 2 },
  { filters: 16, vectors: 1 },
  { filters: 4, vectors: 4 },
  { filters: 1, vectors: 4 },
];

/** Most bytes of images that are laid out at a time on a device. A block of places may go on behind them. */
export function packedBytes({ maxAllocationBytes }: DeviceTraits): number {
  return Math.min(PACKED_BYTES, maxAllocationBytes - 4 * Math.max(...WIDE.map(widePlaces)));
}

/** `wide` on CPUs and `implicit-gemm` on GPUs, as far as they take the shape and are worth it; else `direct`. */
export function chooseVariant(call: CheckedConv2d, traits: DeviceTraits): Conv2dVariant {
  return (traits.isCpuLike ? chooseWide(call, traits) : chooseTile(call, traits)) ?? chooseDirect(call);
}

function chooseDirect({ filterShape, groups }: CheckedConv2d): Conv2dVariant {
  return { kind: 'direct', filters: filterShape[0] / groups >= FEW_FILTERS ? 8 : 1 };
}

function chooseTile(call: CheckedConv2d, traits: DeviceTraits): Conv2dVariant | undefined {
  const { filterShape, outputShape, groups } = call;
  const filters = filterShape[0] / groups;
  if (filters < FEW_FILTERS || !fitsIn32Bits(call)) return undefined;
  const places = outputShape[0] * outputShape[2] * outputShape[3];
  const groupsOf = ({ tile }: ImplicitGemmParams): number =>
    groups * Math.ceil(filters / tile) * Math.ceil(places / tile);
  const fitting = TILES.filter(
    (each) => implicitGemmLanes(each) <= traits.maxGroupSize && implicitGemmLocalBytes(each) <= traits.maxLocalBytes,
  );
  const busy = fitting.find((each) => filters > each.tile / 2 && groupsOf(each) >= ENOUGH_GROUPS * traits.computeUnits);
  const chosen = busy ?? fitting.at(-1);
  return chosen && { kind: 'implicit-gemm', ...chosen };
}

/** Coordinates and offsets in a group of channels, those in the padding included, modulo 2^32 without coinciding. */
function fitsIn32Bits({ inputShape, filterShape, outputShape, padding, dilation, groups }: CheckedConv2d): boolean {
  const [, channels, height, width] = inputShape;
  const [, , filterHeight, filterWidth] = filterShape;
  const sizes = [
    (channels / groups) * height * width,
    (channels / groups) * filterHeight * filterWidth,
    outputShape[2] * outputShape[3],
    height + 2 * padding[0] + filterHeight * dilation[0],
    width + 2 * padding[1] + filterWidth * dilation[1],
  ];
  return sizes.every((size) => size < 2 ** 31);
}

function chooseWide(call: CheckedConv2d, traits: DeviceTraits): Conv2dVariant | undefined {
  const { inputShape, filterShape, outputShape, stride, groups } = call;
  const filters = filterShape[0] / groups;
  if (!fitsIn32Bits(call) || stride.some((size) => size >= 2 ** 31)) return undefined;
  const outputRows = rowsAtATime(call, packedBytes(traits));
  if (outputRows === 0) return undefined;
  const { places, channelPitch } = wideLayout(call, outputRows);
  const growth = channelPitch / Math.max(inputShape[2] * inputShape[3], places);
  if (!isOwnLayout(call) && growth > MOST_GROWTH) return undefined;
  const sums = (params: WideParams): number => {
    const block = widePlaces(params);
    return Math.ceil(filters / params.filters) * params.filters * Math.ceil(places / block) * block;
  };
  // The fewer sums to an input or weight, the more loads.
  const work = (params: WideParams): number => sums(params) * (1 + 2 / params.filters + 1 / params.vectors);
  const [chosen] = [...WIDE].sort((x, y) => work(x) - work(y)) as [WideParams, ...WideParams[]];
  const use = (filters * outputRows * outputShape[3]) / sums(chosen);
  return use < LEAST_USE ? undefined : { kind: 'wide', outputRows, ...chosen };
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
