import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';

/** The parameters that distinguish the `wide` kernels. */
export interface WideParams {
  /** Filters that a work-item computes side by side. */
  readonly filters: number;
  /** Vectors of 16 neighbouring places that it computes for each. */
  readonly vectors: number;
}

/** Lanes of a vector. */
const LANES = 16;

/** Places of a block. */
export const widePlaces = ({ vectors }: WideParams): number => LANES * vectors;

/**
 * Convolution for devices with wide vectors: output[k, f] = sum over taps t of filter[k, t] * image[offset[t] + f], where f
 * numbers the places of an output plane with rows `pitch` apart, so that the inputs of neighbouring places are
 * neighbours for every tap; see `layout.ts`. Places that are numbered but lie beyond the end of an output row are computed
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
      images: 'f32*',
      filter: 'f32*',
      output: 'f32*',
      offsets: 'u32*',
      taps: 'u64',
      groups: 'u64',
      filters: 'u64',
      first_plane: 'u64',
      planes: 'u64',
      planes_at_a_time: 'u64',
      plane_pitch: 'u64',
      places: 'u64',
      pitch: 'u64',
      width: 'u64',
      output_plane: 'u64',
      last_start: 'u64',
      blocks: 'u64',
      blocks_per_item: 'u64',
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
