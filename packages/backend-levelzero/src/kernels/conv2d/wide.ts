import type { CheckedConv2d, ResolvedConv2d } from '@concord/backend-core/implement';
import { type NamedVariant, shapeOf } from '@concord/variants';
import { type DeviceMemory, type DeviceTraits, floatsFrom, type Recorder, type Span } from '../recorder.ts';
import { gridOf } from '../work.ts';
import { offsets, OFFSETS_LANES, pack, wide, type WideParams, widePlaces } from './wide.spv.ts';
import { type Conv2dTable, fitsIn32Bits } from './table.ts';

/**
 * The layout of images for the `wide` kernel: for each tap the inputs of neighbouring places of an output row are
 * neighbours, whatever the stride, and the rows of places are one distance apart.
 *
 * The rows and columns of the padded image are sorted by their remainder after division by the stride, their *phase*: a
 * channel is `[row phases][column phases][rows][pitch]`, and row i of phase f is row `i * stride + f` of the padded image.
 * Tap r, s reads phase `r * dilation % stride` of the rows, from row `p + floor(r * dilation / stride)` on for the output row
 * p; columns alike. Only what some tap reads is there.
 */
interface WideLayout {
  readonly rowPhases: number;
  readonly columnPhases: number;
  /** The rows of a phase: those of the output, and as many more as the filter reaches. */
  readonly rows: number;
  readonly pitch: number;
  /** Elements of a channel. */
  readonly channelPitch: number;
  /** Places of a plane, with those between the rows of the output: up to its last element. */
  readonly places: number;
}

/** The layout for `outputRows` rows of the output of a convolution. */
function wideLayout(call: CheckedConv2d, outputRows: number): WideLayout {
  const { filterShape, outputShape, stride, dilation } = call;
  const rowPhases = phases(filterShape[2], stride[0], dilation[0]);
  const columnPhases = phases(filterShape[3], stride[1], dilation[1]);
  const rows = outputRows + Math.floor(((filterShape[2] - 1) * dilation[0]) / stride[0]);
  const pitch = outputShape[3] + Math.floor(((filterShape[3] - 1) * dilation[1]) / stride[1]);
  return {
    rowPhases,
    columnPhases,
    rows,
    pitch,
    channelPitch: rowPhases * columnPhases * rows * pitch,
    places: (outputRows - 1) * pitch + outputShape[3],
  };
}

/** Returns whether the input itself has this layout: no padding, stride 1. */
function isOwnLayout({ stride, padding }: CheckedConv2d): boolean {
  return [...stride, ...padding].every((size, index) => size === (index < 2 ? 1 : 0));
}

/** One more than the largest phase that a tap reads. */
function phases(taps: number, stride: number, dilation: number): number {
  let largest = 0;
  // Phases repeat after `stride` taps at the latest.
  for (let tap = 0; tap < Math.min(taps, stride); tap++)
    largest = Math.max(largest, (tap * (dilation % stride)) % stride);
  return largest + 1;
}

/** The minimum number of multiply-adds of a work-item of `wide`, so that starting it does not count. */
const WORK_PER_ITEM = 2 ** 17;
/** Bytes of images that a cache holds while the filters change. */
const CACHED_BYTES = 2 ** 18;
/** Elements that a work-item of `pack` copies, about. */
const COPIES_PER_ITEM = 2 ** 12;

/** The maximum number of bytes of images that are laid out at a time, where the device allocates that much. */
const PACKED_BYTES = 2 ** 26;
/** The minimum part of what is computed that has to be some of the output. */
const MIN_USE = 1 / 12;
/** Largest growth of the images by laying them out. */
const MAX_GROWTH = 8;

/** Parameters by id; more sums than these do not fit the registers. */
const WIDE: ReadonlyMap<string, WideParams> = new Map(
  [
    { filters: 8, vectors: 3 },
    { filters: 8, vectors: 2 },
    { filters: 16, vectors: 1 },
    { filters: 4, vectors: 4 },
    { filters: 1, vectors: 4 },
  ].map((params) => [idOf(params), params]),
);

/** Convolution of images that are laid out for wide vectors: for processors. */
export const wideTable: Conv2dTable = {
  ids: [...WIDE.keys()],
  kernelsFor: ({ isCpuLike }) =>
    isCpuLike ? [offsets, ...[false, true].map((isDense) => pack({ isDense })), ...[...WIDE.values()].map(wide)] : [],
  candidates: (call, traits) => {
    const { inputShape, filterShape, outputShape, stride, groups } = call;
    const filters = filterShape[0] / groups;
    if (!traits.isCpuLike || !fitsIn32Bits(call) || stride.some((size) => size >= 2 ** 31)) return undefined;
    const outputRows = rowsAtATime(call, packedBytes(traits));
    if (outputRows === 0) return undefined;
    const { places, channelPitch } = wideLayout(call, outputRows);
    const growth = channelPitch / Math.max(inputShape[2] * inputShape[3], places);
    if (!isOwnLayout(call) && growth > MAX_GROWTH) return undefined;
    const sums = (params: WideParams): number => {
      const block = widePlaces(params);
      return Math.ceil(filters / params.filters) * params.filters * Math.ceil(places / block) * block;
    };
    // The fewer sums to an input or weight, the more loads.
    const work = (params: WideParams): number => sums(params) * (1 + 2 / params.filters + 1 / params.vectors);
    const bestFirst = [...WIDE.values()].sort((x, y) => work(x) - work(y));
    const use = (filters * outputRows * outputShape[3]) / sums(bestFirst[0] as WideParams);
    const variants = bestFirst.map((params) => ({ id: idOf(params) }));
    return { variants, preferred: { id: idOf(bestFirst[0] as WideParams) }, rank: use >= MIN_USE ? 2 : 0 };
  },
  launch: (call, variant, recorder) => {
    const outputRows = rowsAtATime(call, packedBytes(recorder.traits));
    planWide(call, { id: variant.id, outputRows, ...shapeOf(WIDE, variant) }, recorder);
  },
};

function idOf(params: WideParams): string {
  return `conv2d/wide-${params.filters}x${widePlaces(params)}`;
}

/** The maximum number of bytes of images that are laid out at a time on a device. A block of places may go on after them. */
function packedBytes({ maxAllocationBytes }: DeviceTraits): number {
  return Math.min(PACKED_BYTES, maxAllocationBytes - 4 * Math.max(...[...WIDE.values()].map(widePlaces)));
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

/** The number of output rows that are laid out, and computed, at a time. */
interface WidePlan extends WideParams, NamedVariant {
  readonly outputRows: number;
}

/** Some of the planes of a call, and some of their output rows. */
interface Piece {
  readonly firstPlane: number;
  readonly planes: number;
  readonly firstRow: number;
  readonly outputRows: number;
}

/**
 * Convolution by `wide`: the distances of the taps, then as many planes at a time as fit in `packedBytes`, laid out and
 * computed; a plane that does not fit, by some output rows at a time. Input that has the layout already stays where it is.
 */
function planWide(call: ResolvedConv2d<DeviceMemory>, plan: WidePlan, recorder: Recorder): void {
  const { inputShape, outputShape, filterShape, groups } = call;
  const channels = filterShape[1];
  const planes = inputShape[0] * groups;
  const layout = wideLayout(call, plan.outputRows);
  const isInPlace = isOwnLayout(call) && layout.places >= widePlaces(plan);
  const planeBytes = 4 * channels * layout.channelPitch;
  const planesAtATime = isInPlace
    ? planes
    : Math.min(planes, Math.max(1, Math.floor(packedBytes(recorder.traits) / planeBytes)));
  const table = recorder.scratch(4 * channels * filterShape[2] * filterShape[3]);
  // A block may be longer than the plane.
  const scratch = isInPlace ? undefined : recorder.scratch(planesAtATime * planeBytes + 4 * widePlaces(plan));
  launchOffsets(call, layout, table, recorder);
  for (let firstPlane = 0; firstPlane < planes; firstPlane += planesAtATime) {
    for (let firstRow = 0; firstRow < outputShape[2]; firstRow += plan.outputRows) {
      const piece: Piece = {
        firstPlane,
        planes: Math.min(planesAtATime, planes - firstPlane),
        firstRow,
        outputRows: Math.min(plan.outputRows, outputShape[2] - firstRow),
      };
      if (scratch !== undefined) launchPack(call, layout, piece, scratch, recorder);
      launchWide(call, plan, layout, piece, { images: scratch ?? call.input, table }, recorder);
    }
  }
}

function launchOffsets(
  { filterShape, stride, dilation }: ResolvedConv2d<DeviceMemory>,
  { rows, pitch, columnPhases, channelPitch }: WideLayout,
  table: Span,
  recorder: Recorder,
): void {
  const taps = filterShape[1] * filterShape[2] * filterShape[3];
  recorder.launch({
    kernel: offsets,
    args: {
      offsets: table,
      taps,
      filter_height: filterShape[2],
      filter_width: filterShape[3],
      stride_h: stride[0],
      stride_w: stride[1],
      dilation_h: dilation[0],
      dilation_w: dilation[1],
      row_phase_pitch: columnPhases * rows * pitch,
      column_phase_pitch: rows * pitch,
      pitch,
      channel_pitch: channelPitch,
    },
    groups: gridOf(Math.ceil(taps / OFFSETS_LANES), recorder.traits),
  });
}

function launchPack(
  call: ResolvedConv2d<DeviceMemory>,
  { rows, pitch, rowPhases, columnPhases }: WideLayout,
  { firstPlane, planes, firstRow }: Piece,
  images: Span,
  recorder: Recorder,
): void {
  const { inputShape, filterShape, stride, padding } = call;
  const [, , height, width] = inputShape;
  const lines = planes * filterShape[1] * rowPhases * columnPhases * rows;
  const linesPerItem = Math.ceil(COPIES_PER_ITEM / pitch);
  recorder.launch({
    kernel: pack({ isDense: stride[1] === 1 }),
    args: {
      input: floatsFrom(call.input, firstPlane * filterShape[1] * height * width),
      images,
      lines,
      lines_per_item: linesPerItem,
      height,
      width,
      row_phases: rowPhases,
      column_phases: columnPhases,
      rows,
      pitch,
      first_row: firstRow,
      stride_h: stride[0],
      stride_w: stride[1],
      pad_h: padding[0],
      pad_w: padding[1],
    },
    groups: gridOf(Math.ceil(lines / linesPerItem), recorder.traits),
  });
}

function launchWide(
  call: ResolvedConv2d<DeviceMemory>,
  params: WidePlan,
  { pitch, channelPitch }: WideLayout,
  { firstPlane, planes, firstRow, outputRows }: Piece,
  { images, table }: { readonly images: Span; readonly table: Span },
  recorder: Recorder,
): void {
  const { filterShape, outputShape, groups, filter, output } = call;
  const width = outputShape[3];
  const filters = filterShape[0] / groups;
  const taps = filterShape[1] * filterShape[2] * filterShape[3];
  const block = widePlaces(params);
  const places = (outputRows - 1) * pitch + width;
  const blocks = Math.ceil(places / block);
  const blocksPerItem = Math.min(blocks, Math.ceil(WORK_PER_ITEM / (taps * params.filters * block)));
  const planePitch = filterShape[1] * channelPitch;
  const planesAtATime = Math.max(1, Math.min(planes, Math.floor(CACHED_BYTES / (4 * planePitch))));
  const turns = Math.ceil(planes / planesAtATime);
  recorder.launch({
    kernel: wide({ filters: params.filters, vectors: params.vectors }),
    args: {
      images,
      filter,
      output: floatsFrom(output, firstRow * width),
      offsets: table,
      taps,
      groups,
      filters,
      first_plane: firstPlane,
      planes,
      planes_at_a_time: planesAtATime,
      plane_pitch: planePitch,
      places,
      pitch,
      width,
      output_plane: outputShape[2] * width,
      last_start: Math.max(0, places - block),
      blocks,
      blocks_per_item: blocksPerItem,
    },
    groups: gridOf(
      turns * planesAtATime * Math.ceil(filters / params.filters) * Math.ceil(blocks / blocksPerItem),
      recorder.traits,
    ),
    variant: params.id,
  });
}
