import { shapeOf } from '@concord/variants';
import { gridOf } from '../grid.ts';
import type { Recorder } from '../recorder.ts';
import { lanesToAskFor } from '../subgroups.ts';
import {
  implicitGemm,
  implicitGemmLanes,
  implicitGemmLocalBytes,
  type ImplicitGemmParams,
} from './implicit-gemm.spv.ts';
import {
  type Call,
  type Conv2dTable,
  FEW_FILTERS,
  fitsIn32Bits,
  imagesInTime,
  multiplyAddsOf,
  windowArguments,
} from './table.ts';

/** Groups of work-items per compute unit that keep a GPU busy: a larger tile is taken only if that many are left. */
const ENOUGH_GROUPS = 4;

/** By id, the largest tile first. */
const TILES: ReadonlyMap<string, ImplicitGemmParams> = new Map(
  [
    { tile: 128 as const, piece: 8 as const },
    { tile: 64 as const, piece: 4 as const },
    { tile: 32 as const, piece: 4 as const },
  ].map((params) => [idOf(params), params]),
);

/** Convolution as a product whose second matrix is never stored: for GPUs. */
export const implicitGemmTable: Conv2dTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    const lanes = lanesToAskFor(traits);
    return traits.isCpuLike ? [] : [...TILES.values()].map((params) => implicitGemm({ ...params, lanes }));
  },
  candidates: (call, traits) => {
    const { filterShape, outputShape, groups } = call;
    if (traits.isCpuLike || !fitsIn32Bits(call)) return undefined;
    const filters = filterShape[0] / groups;
    const places = outputShape[0] * outputShape[2] * outputShape[3];
    const groupsOf = ({ tile }: ImplicitGemmParams): number =>
      groups * Math.ceil(filters / tile) * Math.ceil(places / tile);
    const fitting = [...TILES.values()].filter(
      (each) => implicitGemmLanes(each) <= traits.maxGroupSize && implicitGemmLocalBytes(each) <= traits.maxLocalBytes,
    );
    const busy = fitting.find(
      (each) => filters > each.tile / 2 && groupsOf(each) >= ENOUGH_GROUPS * traits.computeUnits,
    );
    const best = busy ?? fitting.at(-1);
    if (best === undefined) return undefined;
    const variants = [best, ...fitting.filter((each) => each !== best)].map((each) => ({ id: idOf(each) }));
    return { variants, preferred: { id: idOf(best) }, rank: filters >= FEW_FILTERS ? 2 : 0 };
  },
  launch: (call, variant, recorder) => {
    const params = { id: variant.id, ...shapeOf(TILES, variant) };
    for (const part of imagesInTime(call, recorder.traits)) launchPart(part, params, recorder);
  },
};

function idOf({ tile }: ImplicitGemmParams): string {
  return `conv2d/implicit-gemm-${tile}`;
}

function launchPart(call: Call, params: ImplicitGemmParams & { readonly id: string }, recorder: Recorder): void {
  const { inputShape, filterShape, outputShape, groups, input, filter, output } = call;
  const [images, channels, height, width] = inputShape;
  const filters = filterShape[0] / groups;
  const outputPlane = outputShape[2] * outputShape[3];
  const places = images * outputPlane;
  recorder.launch({
    kernel: implicitGemm({ tile: params.tile, piece: params.piece, lanes: lanesToAskFor(recorder.traits) }),
    args: {
      input,
      filter,
      output,
      groups,
      filters,
      places,
      input_image: channels * height * width,
      input_group: filterShape[1] * height * width,
      taps: filterShape[1] * filterShape[2] * filterShape[3],
      height,
      width,
      filter_height: filterShape[2],
      filter_width: filterShape[3],
      output_width: outputShape[3],
      output_plane: outputPlane,
      ...windowArguments(call),
      // With one output there is no distance, and it may exceed 32 bits.
      stride_h: call.stride[0] % 2 ** 32,
      stride_w: call.stride[1] % 2 ** 32,
    },
    groups: gridOf(groups * Math.ceil(filters / params.tile) * Math.ceil(places / params.tile), recorder.traits),
    multiplyAdds: multiplyAddsOf(call),
    variant: params.id,
  });
}
