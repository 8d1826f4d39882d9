import type { Value } from '@concord/spirv-builder';
import { ofType, shapeOf } from '@concord/variants';
import { gridOf, groupIndex } from '../work.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Conv2dTable, FEW_FILTERS, multiplyAddsOf, partsInTime } from './table.ts';

/** The parameters that distinguish the `direct` kernels. */
interface DirectParams {
  /** Filters that a work-item computes side by side. */
  readonly filters: number;
}

/** Work-items in a group. */
const DIRECT_LANES = 64;

/**
 * Convolution without workgroup memory and without vectors: output[k, place] for a block of filters and one place per
 * work-item; each input that is loaded meets the whole block. For any shape: coordinates are 64-bit.
 *
 * Input is NCHW, filter KCRS, output NKPQ; a place is an (image, p, q). Groups of work-items are numbered by group of
 * channels, block of filters, and block of {@link DIRECT_LANES} neighbouring places, the last running fastest.
 */
const direct: (params: DirectParams) => Kernel = variants(({ filters }: DirectParams) =>
  defineKernel({
    name: `conv2d/direct ${filters}`,
    parameters: {
      ...ofType('f32*', 'input filter output'),
      ...ofType('u64', 'groups filters channels height width filter_height filter_width output_width'),
      ...ofType('u64', 'output_plane places stride_h stride_w pad_h pad_w dilation_h dilation_w'),
    },
    groupSize: [DIRECT_LANES, 1, 1],
    write: (k, { module, args }) => {
      const f32 = module.float(32);
      const placeBlocks = k.udiv(k.add(args.places, DIRECT_LANES - 1), DIRECT_LANES);
      const filterBlocks = k.udiv(k.add(args.filters, filters - 1), filters);
      const id = groupIndex(k);
      const place = k.add(k.mul(k.umod(id, placeBlocks), DIRECT_LANES), k.localId(0));
      const number = k.udiv(id, placeBlocks);
      const firstFilter = k.mul(k.umod(number, filterBlocks), filters);
      const group = k.udiv(number, filterBlocks);
      const inputPlane = k.mul(args.height, args.width);
      const taps = k.mul(args.channels, k.mul(args.filter_height, args.filter_width));

      k.when(k.and(k.ult(place, args.places), k.ult(group, args.groups)), () => {
        const plane = k.add(k.mul(k.udiv(place, args.output_plane), args.groups), group);
        const within = k.umod(place, args.output_plane);
        // Modulo 2^64: above and left of the image come out as huge numbers.
        const top = k.sub(k.mul(k.udiv(within, args.output_width), args.stride_h), args.pad_h);
        const left = k.sub(k.mul(k.umod(within, args.output_width), args.stride_w), args.pad_w);
        // What is computed beyond the last filter, a copy of it, is not stored.
        const last = k.sub(args.filters, 1);
        const numbers = Array.from({ length: filters }, (_, i) => k.math('u_min', k.add(firstFilter, i), last));
        const weights = numbers.map((each) => k.at(args.filter, k.mul(k.add(k.mul(group, args.filters), each), taps)));
        const image = k.at(args.input, k.mul(k.mul(plane, args.channels), inputPlane));
        const zeros = numbers.map(() => k.constant(f32, 0));

        const sums = k.forLoop({ to: args.channels }, zeros, (channel, ofChannels) =>
          k.forLoop({ to: args.filter_height }, ofChannels, (r, ofRows) => {
            const y = k.add(top, k.mul(r, args.dilation_h));
            const isRow = k.ult(y, args.height);
            const row = k.at(image, k.add(k.mul(channel, inputPlane), k.mul(y, args.width)));
            const firstTap = k.mul(k.add(k.mul(channel, args.filter_height), r), args.filter_width);
            return k.forLoop({ to: args.filter_width }, ofRows, (s, sum) => {
              const x = k.add(left, k.mul(s, args.dilation_w));
              const isInside = k.and(isRow, k.ult(x, args.width));
              // The padding is left out, not multiplied with: 0 * Infinity would be NaN.
              return k.ifElse(
                isInside,
                () => {
                  const input = k.load(k.at(row, x));
                  const tap = k.add(firstTap, s);
                  return sum.map((each, i) => k.fma(input, k.load(k.at(weights[i] as Value, tap)), each));
                },
                () => sum,
              );
            });
          }),
        );

        for (const [i, sum] of sums.entries()) {
          const filter = k.add(firstFilter, i);
          k.when(k.ult(filter, args.filters), () => {
            const at = k.add(k.mul(k.add(k.mul(plane, args.filters), filter), args.output_plane), within);
            k.store(k.at(args.output, at), sum);
          });
        }
      });
    },
  }),
);

/** Parameters by id, fewest filters first. */
const PARAMS_OF: ReadonlyMap<string, DirectParams> = new Map(
  [1, 8].map((filters) => [`conv2d/direct-${filters}`, { filters }]),
);

/** Convolution of any shape, without workgroup memory. */
export const directTable: Conv2dTable = {
  ids: [...PARAMS_OF.keys()],
  kernelsFor: () => [...PARAMS_OF.values()].map(direct),
  candidates: ({ filterShape, groups }) => {
    const [few, many] = directTable.ids.map((id) => ({ id })) as [{ id: string }, { id: string }];
    const variants = filterShape[0] / groups >= FEW_FILTERS ? [many, few] : [few, many];
    return { variants, preferred: variants[0] as { id: string }, rank: 1 };
  },
  launch: (call, variant, recorder) => {
    const { filters: tile } = shapeOf(PARAMS_OF, variant);
    for (const { call: part, args } of partsInTime(call, recorder.traits)) {
      const { groups, filters, places } = args;
      recorder.launch({
        kernel: direct({ filters: tile }),
        args: { ...args, channels: call.filterShape[1] },
        groups: gridOf(groups * Math.ceil(filters / tile) * Math.ceil(places / DIRECT_LANES), recorder.traits),
        multiplyAdds: multiplyAddsOf(part),
        variant: variant.id,
      });
    }
  },
};
