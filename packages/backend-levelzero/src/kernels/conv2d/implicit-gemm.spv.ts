import type { Value } from '@concord/spirv-builder';
import { ofType, shapeOf } from '@concord/variants';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { lanesToAskFor } from '../recorder.ts';
import { type Conv2dTable, FEW_FILTERS, fitsIn32Bits, multiplyAddsOf, partsInTime } from './table.ts';

/** The parameters that distinguish the implicit GEMM kernels. */
interface ImplicitGemmParams {
  /** Side of the square tile of the product that a group computes: filters by places. */
  readonly tile: number;
  /** Side of the square piece of it that a work-item computes, a multiple of 4. */
  readonly piece: number;
  /** Work-items of a sub-group, where the driver's compiler is not to decide. */
  readonly lanes?: 16 | undefined;
}

/** Taps in workgroup memory at a time; at most the work-items of a group. */
const STEP = 16;

/** Work-items in a group; a multiple of the tile's side. */
const implicitGemmLanes = ({ tile, piece }: ImplicitGemmParams): number => (tile / piece) ** 2;

/** Bytes of workgroup memory. */
const implicitGemmLocalBytes = ({ tile }: ImplicitGemmParams): number =>
  4 * (STEP * (filterPitch(tile) + tile) + 3 * STEP);

/** Four floats of padding keep the filters of neighbouring taps in different banks, and vectors aligned. */
const filterPitch = (tile: number): number => tile + 4;

/**
 * Convolution as the matrix product filters x patches, per group of channels: output[k, place] = sum over taps of
 * filter[k, tap] * input(place, tap), where a tap is a (channel, r, s) and a place an (image, p, q). The matrix of patches
 * (im2col) is never stored: its tiles are gathered from the input on the way to workgroup memory (Chetlur et al.,
 * "cuDNN: Efficient Primitives for Deep Learning", 2014, section 3).
 *
 * Input is NCHW, filter KCRS, output NKPQ. Workgroup memory holds, for {@link STEP} taps, the filters and the inputs
 * of the tile, and what each tap means for an address, which is worked out once per step and tap. A work-item
 * brings inputs of one place in all steps, and computes neighbouring filters by fours of neighbouring places, which lie
 * `4 tile / piece` apart: it reads both as vectors of four. Coordinates are 32-bit, modulo 2^32: none in the padding is
 * congruent to one in the image as long as size and padding together stay below, which the plan sees to.
 *
 * Groups of work-items are numbered by group of channels, tile of places, and tile of filters, the last running fastest.
 */
const implicitGemm: (params: ImplicitGemmParams) => Kernel = variants((params: ImplicitGemmParams) => {
  const { tile, piece, lanes: subgroupSize } = params;
  const lanes = implicitGemmLanes(params);
  const side = tile / piece;
  const pitch = filterPitch(tile);
  const loads = (tile * STEP) / lanes;
  const each = Array.from({ length: piece }, (_, index) => index);
  return defineKernel({
    name: `conv2d/implicit-gemm ${tile}x${tile}x${STEP}${subgroupSize === undefined ? '' : ` of ${subgroupSize}`}`,
    parameters: {
      ...ofType('f32*', 'input filter output'),
      ...ofType('u64', 'groups filters places input_image input_group'),
      ...ofType('u32', 'taps height width filter_height filter_width output_width output_plane stride_h'),
      ...ofType('u32', 'stride_w pad_h pad_w dilation_h dilation_w'),
    },
    groupSize: [lanes, 1, 1],
    subgroupSize,
    write: (k, { module, args }) => {
      const [u32, u64, f32] = [module.int(32), module.int(64), module.float(32)];
      const filterTile = k.localArray(f32, STEP * pitch);
      const inputTile = k.localArray(f32, STEP * tile);
      const [tapOffset, tapRow, tapColumn] = [0, 1, 2].map(() => k.localArray(u32, STEP)) as [Value, Value, Value];

      const lane = k.uconvert(k.localId(0), u32);
      const tilesOf = (count: Value): Value => k.udiv(k.add(count, tile - 1), tile);
      const [filterTiles, placeTiles] = [tilesOf(args.filters), tilesOf(args.places)];
      const number = groupIndex(k);
      const firstFilter = k.mul(k.umod(number, filterTiles), tile);
      const firstPlace = k.mul(k.umod(k.udiv(number, filterTiles), placeTiles), tile);
      const group = k.udiv(k.udiv(number, filterTiles), placeTiles);
      const firstOfGroup = k.mul(group, args.filters);
      const outputPlane = k.uconvert(args.output_plane, u64);

      /** The image and the number in its output plane of a place. */
      const split = (place: Value): { image: Value; within: Value } => ({
        image: k.udiv(place, outputPlane),
        within: k.uconvert(k.umod(place, outputPlane), u32),
      });

      // The place whose inputs this work-item brings; beyond the last, a copy of it.
      const brought = k.math('u_min', k.add(firstPlace, k.uconvert(k.umod(lane, tile), u64)), k.sub(args.places, 1));
      const { image, within } = split(brought);
      const top = k.sub(k.mul(k.udiv(within, args.output_width), args.stride_h), args.pad_h);
      const left = k.sub(k.mul(k.umod(within, args.output_width), args.stride_w), args.pad_w);
      const corner = k.add(k.mul(top, args.width), left);
      const from = k.at(args.input, k.add(k.mul(image, args.input_image), k.mul(group, args.input_group)));
      const firstInputTap = k.udiv(lane, tile);
      // And the filters: neighbours along the taps.
      const filterTap = k.umod(lane, STEP);
      const filterRow = k.udiv(lane, STEP);

      const describeTaps = (firstTap: Value): void => {
        k.when(k.ult(lane, STEP), () => {
          const tap = k.add(firstTap, lane);
          const line = k.udiv(tap, args.filter_width);
          const column = k.mul(k.umod(tap, args.filter_width), args.dilation_w);
          const row = k.mul(k.umod(line, args.filter_height), args.dilation_h);
          const channel = k.udiv(line, args.filter_height);
          const offset = k.add(k.mul(k.add(k.mul(channel, args.height), row), args.width), column);
          k.store(k.at(tapOffset, lane), offset);
          k.store(k.at(tapRow, lane), row);
          k.store(k.at(tapColumn, lane), column);
        });
      };

      const bringFilter = (firstTap: Value, index: number): void => {
        const tap = k.add(firstTap, filterTap);
        const row = k.add(filterRow, (index * lanes) / STEP);
        const filter = k.add(firstFilter, k.uconvert(row, u64));
        const [value] = k.ifElse(
          k.and(k.ult(tap, args.taps), k.ult(filter, args.filters)),
          () => {
            const first = k.mul(k.add(firstOfGroup, filter), k.uconvert(args.taps, u64));
            return [k.load(k.at(args.filter, k.add(first, k.uconvert(tap, u64))))];
          },
          () => [k.constant(f32, 0)],
        );
        k.store(k.at(filterTile, k.add(k.mul(filterTap, pitch), row)), value as Value);
      };

      const bringInput = (firstTap: Value, index: number): void => {
        const inStep = k.add(firstInputTap, (index * lanes) / tile);
        const y = k.add(top, k.load(k.at(tapRow, inStep)));
        const x = k.add(left, k.load(k.at(tapColumn, inStep)));
        const isInside = k.and(k.ult(y, args.height), k.ult(x, args.width));
        const [value] = k.ifElse(
          k.and(isInside, k.ult(k.add(firstTap, inStep), args.taps)),
          () => [k.load(k.at(from, k.uconvert(k.add(corner, k.load(k.at(tapOffset, inStep))), u64)))],
          () => [k.constant(f32, 0)],
        );
        k.store(k.at(inputTile, k.add(k.mul(inStep, tile), k.umod(lane, tile))), value as Value);
      };

      const laneRow = k.mul(k.udiv(lane, side), piece);
      const laneColumn = k.mul(k.umod(lane, side), 4);
      describeTaps(k.constant(u32, 0));
      const zeros = each.flatMap(() => each.map(() => k.constant(f32, 0)));
      const isThere = k.ult(group, args.groups);
      const steps = k.select(isThere, k.udiv(k.add(args.taps, STEP - 1), STEP), 0);
      const sums = k.forLoop({ to: steps }, zeros, (step, carried) => {
        const firstTap = k.mul(step, STEP);
        // The reads of the step before are over, and the taps are described.
        k.barrier();
        for (let index = 0; index < loads; index++) {
          bringFilter(firstTap, index);
          bringInput(firstTap, index);
        }
        k.barrier();
        describeTaps(k.add(firstTap, STEP));
        const [filterAt, inputAt] = [k.at(filterTile, laneRow), k.at(inputTile, laneColumn)];
        return k.forLoop({ to: k.constant(u32, STEP) }, carried, (tap, sum) => {
          const filterOfTap = k.at(filterAt, k.mul(tap, pitch));
          const inputOfTap = k.at(inputAt, k.mul(tap, tile));
          const foursAt = (at: Value, stride: number): Value[] =>
            each
              .filter((i) => i % 4 === 0)
              .map((i) => k.loadVector(k.at(at, (i / 4) * stride), 4, { align: 16 }))
              .flatMap((vector) => [0, 1, 2, 3].map((i) => k.extract(vector, i)));
          const factors = foursAt(filterOfTap, 4);
          const inputs = foursAt(inputOfTap, 4 * side);
          return factors.flatMap((factor, i) =>
            inputs.map((input, j) => k.fma(factor, input, sum[i * piece + j] as Value)),
          );
        });
      });

      for (const j of each) {
        const place = k.add(firstPlace, k.uconvert(k.add(laneColumn, Math.floor(j / 4) * 4 * side + (j % 4)), u64));
        k.when(k.and(isThere, k.ult(place, args.places)), () => {
          const at = split(place);
          const firstOutput = k.add(
            k.mul(k.mul(at.image, k.mul(args.groups, args.filters)), outputPlane),
            k.uconvert(at.within, u64),
          );
          for (const i of each) {
            const filter = k.add(firstFilter, k.uconvert(k.add(laneRow, i), u64));
            k.when(k.ult(filter, args.filters), () => {
              const offset = k.mul(k.add(firstOfGroup, filter), outputPlane);
              k.store(k.at(args.output, k.add(firstOutput, offset)), sums[i * piece + j] as Value);
            });
          }
        });
      }
    },
  });
});

/** Groups of work-items per compute unit that keep a GPU busy: a larger tile is taken only if that many are left. */
const ENOUGH_GROUPS = 4;

/** Tiles by id, the largest first. */
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
    const [, channels, height, width] = call.inputShape;
    const [, ofGroup, filterHeight, filterWidth] = call.filterShape;
    const { tile, piece } = shapeOf(TILES, variant);
    for (const { call: part, args } of partsInTime(call, recorder.traits)) {
      const { groups, filters, places } = args;
      recorder.launch({
        kernel: implicitGemm({ tile, piece, lanes: lanesToAskFor(recorder.traits) }),
        args: {
          ...args,
          input_image: channels * height * width,
          input_group: ofGroup * height * width,
          taps: ofGroup * filterHeight * filterWidth,
          // With one output there is no distance, and it may exceed 32 bits.
          stride_h: call.stride[0] % 2 ** 32,
          stride_w: call.stride[1] % 2 ** 32,
        },
        groups: gridOf(groups * Math.ceil(filters / tile) * Math.ceil(places / tile), recorder.traits),
        multiplyAdds: multiplyAddsOf(part),
        variant: variant.id,
      });
    }
  },
};

function idOf({ tile }: ImplicitGemmParams): string {
  return `conv2d/implicit-gemm-${tile}`;
}
