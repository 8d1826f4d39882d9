import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, type Folding, foldingOf } from './fold.spv.ts';
import { partOf, partParameters, shareOf } from './parts.spv.ts';
import { foldSteps } from './steps.spv.ts';

/** Work-items of a group. */
export const SUBGROUP_ROWS_GROUP = 256;

/** What works on a part of a row together: a sub-group or the whole group. */
export type RowTeam = 'subgroup' | 'group';
/** Every {@link RowTeam}. */
export const ROW_TEAMS: readonly RowTeam[] = ['subgroup', 'group'];

/**
 * Reduces rows of contiguous elements, for GPUs with sub-groups; a sub-group of `size`, or all sub-groups of a group of
 * 256, take one part of one row (see `partParameters`, with inner 1; `items` is rows times parts). Neighbours read
 * neighbouring elements. The totals of a sub-group are joined by one instruction, those of a group's sub-groups through
 * workgroup memory by its first work-item.
 *
 * Work-items are numbered by sub-group and place in it, since how these lie in a group is the device's affair.
 */
export const rowsSubgroup: (params: { fold: Fold; team: RowTeam; size: number }) => Kernel = variants(
  ({ fold, team, size }) =>
    defineKernel<string>({
      name: `reduce/rows-subgroup ${fold} ${team} of ${size}`,
      parameters: partParameters(fold),
      groupSize: [SUBGROUP_ROWS_GROUP, 1, 1],
      subgroupSize: size,
      write: (k, { args }) => {
        const { input, output, items } = args as Readonly<Record<'input' | 'output' | 'items', Value>>;
        const folding = foldingOf(k, fold, args);
        const u64 = k.types.int(64);
        const place = k.uconvert(k.subgroupLocalId(), u64);
        const subgroup = k.uconvert(k.subgroupId(), u64);
        const isWhole = team === 'group';
        const perGroup = SUBGROUP_ROWS_GROUP / size;
        const item = isWhole ? groupIndex(k) : k.add(k.mul(groupIndex(k), perGroup), subgroup);
        const mate = isWhole ? k.add(k.mul(subgroup, size), place) : place;
        const mates = k.constant(u64, isWhole ? SUBGROUP_ROWS_GROUP : size);

        const works = k.ult(item, items);
        const { first, count } = partOf(k, args, item);
        // Nobody may be missing where a sub-group joins its totals: who has no part comes with nothing.
        const share = k.select(works, shareOf(k, count, mate, mates), k.constant(u64, 0));
        const pointer = k.at(input, k.add(first, mate));
        const [own] = foldSteps(k, folding, { pointer, count: share, stride: mates, width: 1, ways: 4 });
        const total = folding.joinSubgroup(own as Value);
        const write = (result: Value): void => k.store(k.at(output, item), folding.finish(result));
        if (!isWhole) {
          k.when(k.and(works, k.eq(mate, 0)), () => write(total));
          return;
        }
        const totals = k.localArray(k.types.float(32), perGroup);
        k.when(k.eq(place, 0), () => k.store(k.at(totals, subgroup), total));
        k.barrier();
        k.when(k.and(works, k.eq(mate, 0)), () => write(joinAll(k, folding, totals, perGroup)));
      },
    }),
);

function joinAll(k: FunctionBuilder, folding: Folding, totals: Value, count: number): Value {
  let all = Array.from({ length: count }, (_, index) => k.load(k.at(totals, index)));
  while (all.length > 1) {
    const half = Math.ceil(all.length / 2);
    all = all.slice(0, half).map((total, index) => {
      const other = all[index + half];
      return other === undefined ? total : folding.join(total, other);
    });
  }
  return all[0] as Value;
}
