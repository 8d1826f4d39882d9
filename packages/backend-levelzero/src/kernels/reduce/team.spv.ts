import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, type Folding, foldingOf } from './fold.spv.ts';
import { partOf, partParameters, shareOf } from './parts.spv.ts';
import { foldSteps } from './steps.spv.ts';

/** Work-items of a group. */
export const TEAM_GROUP = 256;

/**
 * Reduces along an axis of any stride, for GPUs; a team of `team` work-items walks down one part of one column. For few
 * columns, for narrow ones, and for rows, which are one column.
 *
 * See `partParameters`. The columns are cut into `tiles` of `tile`, the last one perhaps narrower; a block is one part
 * of one tile, `items` is outer times parts times tiles, and a group of 256 takes as many blocks of `tile` times `team`
 * work-items as fit. Neighbours read neighbouring columns, then the next row: a tile of all columns is read as
 * contiguous memory. The totals of a team meet in a tree in workgroup memory, for any `team` (M. Harris, "Optimizing
 * Parallel Reduction in CUDA", 2007).
 */
export const team: (params: { fold: Fold }) => Kernel = variants(({ fold }) =>
  defineKernel<string>({
    name: `reduce/team ${fold}`,
    parameters: { ...partParameters(fold), columns: 'u64', tiles: 'u64', tile: 'u64', team: 'u64' },
    groupSize: [TEAM_GROUP, 1, 1],
    write: (k, { args }) => {
      const given = args as Readonly<
        Record<'input' | 'output' | 'items' | 'columns' | 'tiles' | 'tile' | 'team', Value>
      >;
      const { input, output, items, columns, tiles, tile } = given;
      const folding = foldingOf(k, fold, args);
      const totals = k.localArray(k.types.float(32), TEAM_GROUP);
      const self = k.localId(0);
      const size = k.mul(tile, given.team);
      const perGroup = k.udiv(k.constant(size.type, TEAM_GROUP), size);
      const block = k.add(k.mul(groupIndex(k), perGroup), k.udiv(self, size));
      const index = k.udiv(block, tiles);
      const column = k.add(k.mul(k.umod(block, tiles), tile), k.umod(self, tile));
      const mate = k.udiv(k.umod(self, size), tile);
      const isInGroup = k.ult(self, k.mul(perGroup, size));
      const works = k.and(isInGroup, k.and(k.ult(block, items), k.ult(column, columns)));

      k.when(works, () => {
        const { first, count } = partOf(k, args, index);
        const pointer = k.at(input, k.add(k.mul(k.add(first, mate), columns), column));
        const share = shareOf(k, count, mate, given.team);
        const stride = k.mul(given.team, columns);
        const [total] = foldSteps(k, folding, { pointer, count: share, stride, width: 1, ways: 4 });
        k.store(k.at(totals, self), total as Value);
      });
      joinTeam(k, folding, { totals, self, mate, works, team: given.team, tile });
      k.when(k.and(works, k.eq(mate, 0)), () => {
        const place = k.at(output, k.add(k.mul(index, columns), column));
        k.store(place, folding.finish(k.load(k.at(totals, self))));
      });
    },
  }),
);

interface Team {
  /** One of each work-item of the group. */
  readonly totals: Value;
  readonly self: Value;
  readonly mate: Value;
  readonly works: Value;
  readonly team: Value;
  /** How far mates are apart. */
  readonly tile: Value;
}

/** Leaves the total of each team in the place of its first mate. */
function joinTeam(k: FunctionBuilder, folding: Folding, { totals, self, mate, works, team: size, tile }: Team): void {
  k.whileLoop(
    [size],
    ([left]) => k.ugt(left as Value, 1),
    ([left]) => {
      const half = k.lshr(k.add(left as Value, 1), 1);
      k.barrier();
      k.when(k.and(works, k.ult(k.add(mate, half), left as Value)), () => {
        const place = k.at(totals, self);
        const other = k.load(k.at(totals, k.add(self, k.mul(half, tile))));
        k.store(place, folding.join(k.load(place), other));
      });
      return [half];
    },
  );
}
