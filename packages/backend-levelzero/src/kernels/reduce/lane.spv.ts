import type { Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, foldingOf } from './fold.spv.ts';
import { partOf, partParameters } from './parts.spv.ts';
import { foldSteps } from './steps.spv.ts';

/** Work-items of a group. */
export const LANE_GROUP = 64;

/**
 * Reduces along an axis of any stride, for GPUs; each work-item walks down one part of one column, four rows at a time.
 * For enough columns to keep a device busy, and for short rows.
 *
 * See `partParameters`; `items` is outer times parts times columns. Neighbours read neighbouring columns. With one
 * column this reduces rows.
 */
export const lane: (params: { fold: Fold }) => Kernel = variants(({ fold }) =>
  defineKernel<string>({
    name: `reduce/lane ${fold}`,
    parameters: { ...partParameters(fold), columns: 'u64' },
    groupSize: [LANE_GROUP, 1, 1],
    write: (k, { args }) => {
      const { input, output, items, columns } = args as Readonly<
        Record<'input' | 'output' | 'items' | 'columns', Value>
      >;
      const folding = foldingOf(k, fold, args);
      const item = k.add(k.mul(groupIndex(k), LANE_GROUP), k.localId(0));
      k.when(k.ult(item, items), () => {
        const index = k.udiv(item, columns);
        const column = k.sub(item, k.mul(index, columns));
        const { first, count } = partOf(k, args, index);
        const pointer = k.at(input, k.add(k.mul(first, columns), column));
        const [total] = foldSteps(k, folding, { pointer, count, stride: columns, width: 1, ways: 4 });
        k.store(k.at(output, item), folding.finish(total as Value));
      });
    },
  }),
);
