import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel } from '../kernel.ts';

/** Work-items in a group. */
export const OFFSETS_LANES = 64;

/**
 * The distances of `wide`: of each tap (channel, r, s) of a filter the distance in elements from the input of a place,
 * in the layout of `layout.ts`. One work-item per tap.
 */
export const offsets: Kernel = defineKernel({
  name: 'conv2d/offsets',
  parameters: {
    offsets: 'u32*',
    taps: 'u64',
    filter_height: 'u32',
    filter_width: 'u32',
    stride_h: 'u32',
    stride_w: 'u32',
    dilation_h: 'u32',
    dilation_w: 'u32',
    row_phase_pitch: 'u32',
    column_phase_pitch: 'u32',
    pitch: 'u32',
    channel_pitch: 'u32',
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
