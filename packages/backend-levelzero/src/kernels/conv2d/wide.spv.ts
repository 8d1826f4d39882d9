import { ofType } from '@concord/variants';
import type { FunctionBuilder, Operand, Value } from '@concord/spirv-builder';
import { groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';

/** Work-items in a group. */
export const OFFSETS_LANES = 64;

/**
 * The distances of `wide`: of each tap (channel, r, s) of a filter the distance in elements from the input of a place,
 * in the layout of `wide.ts`. One work-item per tap.
 */
export const offsets: Kernel = defineKernel({
  name: 'conv2d/offsets',
  parameters: {
    offsets: 'u32*',
    taps: 'u64',
    ...ofType('u32', 'filter_height filter_width stride_h stride_w dilation_h dilation_w row_phase_pitch'),
    ...ofType('u32', 'column_phase_pitch pitch channel_pitch'),
  },
  groupSize: [OFFSETS_LANES, 1, 1],
  write: (k, { module, args }) => {
    const i = k.add(k.mul(groupIndex(k), OFFSETS_LANES), k.localId(0));
    k.when(k.ult(i, args.taps), () => {
      const tap = k.uconvert(i, module.int(32));
      const line = k.udiv(tap, args.filter_width);
      const reachH = k.mul(k.umod(line, args.filter_height), args.dilation_h);
      const reachW = k.mul(k.umod(tap, args.filter_width), args.dilation_w);
      const row = k.add(
        k.mul(k.umod(reachH, args.stride_h), args.row_phase_pitch),
        k.mul(k.udiv(reachH, args.stride_h), args.pitch),
      );
      const column = k.add(
        k.mul(k.umod(reachW, args.stride_w), args.column_phase_pitch),
        k.udiv(reachW, args.stride_w),
      );
      const channel = k.mul(k.udiv(line, args.filter_height), args.channel_pitch);
      k.store(k.at(args.offsets, i), k.add(channel, k.add(row, column)));
    });
  },
});

/** The parameters that distinguish the `pack` kernels. */
interface PackParams {
  /** True if columns are one apart: then rows are copied in vectors. */
  readonly isDense: boolean;
}

const LANES = 16;

/**
 * Lays out images for `wide`: `[images * channels][row phases][column phases][rows][pitch]`, as `wide.ts` says. The padding
 * becomes zeros. A work-item copies `rows_per_item` lines of `pitch` elements, numbered in the order in which they lie; the
 * input is NCHW.
 */
export const pack: (params: PackParams) => Kernel = variants(({ isDense }: PackParams) =>
  defineKernel({
    name: `conv2d/pack${isDense ? ' dense' : ''}`,
    parameters: {
      ...ofType('f32*', 'input images'),
      ...ofType('u64', 'lines lines_per_item height width row_phases column_phases rows pitch first_row'),
      ...ofType('u64', 'stride_h stride_w pad_h pad_w'),
    },
    groupSize: [1, 1, 1],
    write: (k, { args }) => {
      const first = k.mul(groupIndex(k), args.lines_per_item);
      const end = k.math('u_min', k.add(first, args.lines_per_item), args.lines);
      k.forLoop({ from: first, to: end }, [], (line) => {
        const row = k.umod(line, args.rows);
        const phases = k.udiv(line, args.rows);
        const columnPhase = k.umod(phases, args.column_phases);
        const rowPhase = k.umod(k.udiv(phases, args.column_phases), args.row_phases);
        const channel = k.udiv(k.udiv(phases, args.column_phases), args.row_phases);
        // Modulo 2^64: above and left of the image come out as huge numbers.
        const y = k.sub(k.add(k.mul(k.add(row, args.first_row), args.stride_h), rowPhase), args.pad_h);
        const to = k.at(args.images, k.mul(line, args.pitch));
        k.ifElse(
          k.ult(y, args.height),
          () => {
            const from = k.at(args.input, k.mul(k.add(k.mul(channel, args.height), y), args.width));
            if (isDense) copyDense(k, from, to, args);
            else copyStrided(k, from, to, columnPhase, args);
          },
          () => fillZeros(k, to, 0, args.pitch),
        );
      });
    },
  }),
);

type Arguments = Readonly<Record<'width' | 'pitch' | 'stride_w' | 'pad_w', Value>>;

function fillZeros(k: FunctionBuilder, to: Value, from: Operand, end: Value): void {
  k.forLoop({ from, to: end }, [], (column) => k.store(k.at(to, column), 0));
}

/** Zeros, a piece of the row, zeros. */
function copyDense(k: FunctionBuilder, from: Value, to: Value, { width, pitch, pad_w: pad }: Arguments): void {
  const left = k.math('u_min', pad, pitch);
  const count = k.math('u_min', width, k.sub(pitch, left));
  fillZeros(k, to, 0, left);
  const target = k.at(to, left);
  const whole = k.and(count, -LANES);
  k.forLoop({ to: whole, step: LANES }, [], (at) => {
    k.storeVector(k.at(target, at), k.loadVector(k.at(from, at), LANES));
  });
  k.forLoop({ from: whole, to: count }, [], (at) => k.store(k.at(target, at), k.load(k.at(from, at))));
  fillZeros(k, to, k.add(left, count), pitch);
}

function copyStrided(k: FunctionBuilder, from: Value, to: Value, phase: Value, args: Arguments): void {
  const { width, pitch, stride_w: stride, pad_w: pad } = args;
  k.forLoop({ to: pitch }, [k.sub(phase, pad)], (column, [x]) => {
    const inside = k.ult(x as Value, width);
    const [value] = k.ifElse(
      inside,
      () => [k.load(k.at(from, x as Value))],
      () => [k.constant(k.types.float(32), 0)],
    );
    k.store(k.at(to, column), value as Value);
    return [k.add(x as Value, stride)];
  });
}

/** The parameters that distinguish the `wide` kernels. */
export interface WideParams {
  /** Filters that a work-item computes side by side. */
  readonly filters: number;
  /** Vectors of 16 neighbouring places that it computes for each. */
  readonly vectors: number;
}

/** Places of a block. */
export const widePlaces = ({ vectors }: WideParams): number => LANES * vectors;

/**
 * Convolution for devices with wide vectors: output[k, f] = sum over taps t of filter[k, t] * image[offset[t] + f], where f
 * numbers the places of an output plane with rows `pitch` apart, so that the inputs of neighbouring places are
 * neighbours for every tap; see `wide.ts`. Places that are numbered but lie beyond the end of an output row are computed
 * and not stored.
 *
 * `images` is `[planes, channels, channel pitch]`, where a plane is a group of channels of an image; filter and output are
 * KCRS and NKPQ. A work-item has one block of filters of a plane and a run of blocks of places; for each block it
 * keeps filters x vectors of sums in registers, and each tap is `vectors` loads of inputs and one of a weight per filter.
 * The last block begins early enough to end with the plane. Work-items are numbered by `planes_at_a_time` planes, block of
 * filters, plane of those, and run, the last running fastest: this many planes stay in a cache while filters change.
 */
export const wide: (params: WideParams) => Kernel = variants((params: WideParams) => {
  const { filters, vectors } = params;
  const places = widePlaces(params);
  return defineKernel({
    name: `conv2d/wide ${filters}x${places}`,
    parameters: {
      ...ofType('f32*', 'images filter output'),
      offsets: 'u32*',
      ...ofType('u64', 'taps groups filters first_plane planes planes_at_a_time plane_pitch places pitch'),
      ...ofType('u64', 'width output_plane last_start blocks blocks_per_item'),
    },
    groupSize: [1, 1, 1],
    write: (k, { module, args }) => {
      const u64 = module.int(64);
      const f32 = module.float(32);
      const vector = module.vector(f32, LANES);
      const runs = k.udiv(k.add(args.blocks, k.sub(args.blocks_per_item, 1)), args.blocks_per_item);
      const filterBlocks = k.udiv(k.add(args.filters, filters - 1), filters);
      const id = groupIndex(k);
      const run = k.umod(id, runs);
      const number = k.udiv(id, runs);
      const inTurn = k.umod(number, args.planes_at_a_time);
      const turn = k.udiv(k.udiv(number, args.planes_at_a_time), filterBlocks);
      const firstFilter = k.mul(k.umod(k.udiv(number, args.planes_at_a_time), filterBlocks), filters);
      const plane = k.add(k.mul(turn, args.planes_at_a_time), inTurn);
      const planeOfCall = k.add(args.first_plane, plane);
      const firstOfGroup = k.mul(k.umod(planeOfCall, args.groups), args.filters);

      // What is computed beyond the last filter, a copy of it, is not stored.
      const last = k.sub(args.filters, 1);
      const numbers = Array.from({ length: filters }, (_, i) => k.math('u_min', k.add(firstFilter, i), last));
      const weights = numbers.map((each) => k.at(args.filter, k.mul(k.add(firstOfGroup, each), args.taps)));
      const outputs = numbers.map((each) =>
        k.at(args.output, k.mul(k.add(k.mul(planeOfCall, args.filters), each), args.output_plane)),
      );
      const image = k.at(args.images, k.mul(plane, args.plane_pitch));
      const kept = k.privateArray(f32, filters * places);

      const firstBlock = k.mul(run, args.blocks_per_item);
      const lastBlock = k.math('u_min', k.add(firstBlock, args.blocks_per_item), args.blocks);
      const endBlock = k.select(k.ult(plane, args.planes), lastBlock, 0);
      k.forLoop({ from: firstBlock, to: endBlock }, [], (block) => {
        const wanted = k.mul(block, places);
        const start = k.math('u_min', wanted, args.last_start);
        const from = k.at(image, start);
        const zeros = Array.from({ length: filters * vectors }, () => k.constant(vector, 0));
        const sums = k.forLoop({ to: args.taps }, zeros, (tap, sum) => {
          const at = k.at(from, k.uconvert(k.load(k.at(args.offsets, tap)), u64));
          const inputs = Array.from({ length: vectors }, (_, j) => k.loadVector(k.at(at, j * LANES), LANES));
          return weights.flatMap((weight, i) => {
            const factor = k.splat(vector, k.load(k.at(weight, tap)));
            return inputs.map((input, j) => k.fma(input, factor, sum[i * vectors + j] as Value));
          });
        });

        for (const [index, sum] of sums.entries()) k.storeVector(k.at(kept, index * LANES), sum);
        const end = k.math('u_min', k.constant(u64, places), k.sub(args.places, start));
        const first = [k.sub(wanted, start), k.udiv(wanted, args.pitch), k.umod(wanted, args.pitch)];
        k.whileLoop(
          first,
          ([lane]) => k.ult(lane as Value, end),
          (piece) => {
            const [lane, row, column] = piece as [Value, Value, Value];
            // Of a row that begins or ends here, what is some of the output.
            const left = k.select(k.ult(column, args.width), k.sub(args.width, column), 0);
            const count = k.math('u_min', left, k.sub(end, lane));
            const to = k.add(k.mul(row, args.width), column);
            for (const [i, output] of outputs.entries()) {
              k.when(k.ult(k.add(firstFilter, i), args.filters), () => {
                copy(k, k.at(output, to), k.at(kept, k.add(lane, i * places)), count);
              });
            }
            return [k.add(lane, k.sub(args.pitch, column)), k.add(row, 1), k.constant(u64, 0)];
          },
        );
      });
    },
  });
});

function copy(k: FunctionBuilder, to: Value, from: Value, count: Value): void {
  const whole = k.and(count, -LANES);
  k.forLoop({ to: whole, step: LANES }, [], (at) => k.storeVector(k.at(to, at), k.loadVector(k.at(from, at), LANES)));
  k.forLoop({ from: whole, to: count }, [], (at) => k.store(k.at(to, at), k.load(k.at(from, at))));
}
