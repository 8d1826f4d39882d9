import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, type Folding, foldingOf } from './fold.spv.ts';
import { partOf, partParameters } from './parts.spv.ts';
import { foldSteps, type Steps } from './steps.spv.ts';

const WIDTH = 16;
/** Vectors of a tile: as many sums as hide the time of an addition. */
const ACROSS = 8;
/** Columns of a tile. */
export const COLUMNS_RUN_TILE: number = WIDTH * ACROSS;

/**
 * Reduces along a strided axis, for CPUs. The columns are cut into `tiles` of 128, the last one perhaps narrower. A
 * work-item takes `run` neighbouring pieces, each one tile of one part (see `partParameters`; `items` is outer times
 * parts times tiles): a whole tile by 8 vectors of 16 columns, a narrower one by single vectors and then column by
 * column, eight rows at a time.
 */
export const columnsRun: (params: { fold: Fold }) => Kernel = variants(({ fold }) =>
  defineKernel<string>({
    name: `reduce/columns-run ${fold}`,
    parameters: { ...partParameters(fold), columns: 'u64', tiles: 'u64', run: 'u64' },
    groupSize: [1, 1, 1],
    write: (k, { args }) => {
      const { input, output, items, columns, tiles, run } = args as Readonly<
        Record<'input' | 'output' | 'items' | 'columns' | 'tiles' | 'run', Value>
      >;
      const folding = foldingOf(k, fold, args);
      const from = k.mul(groupIndex(k), run);
      const to = k.math('u_min', k.add(from, run), items);
      k.forLoop({ from, to }, [], (item) => {
        const index = k.udiv(item, tiles);
        const column = k.mul(k.sub(item, k.mul(index, tiles)), COLUMNS_RUN_TILE);
        const { first, count } = partOf(k, args, index);
        const pointer = k.at(input, k.add(k.mul(first, columns), column));
        const target = k.at(output, k.add(k.mul(index, columns), column));
        foldTile(k, folding, { pointer, target, count, stride: columns, width: k.sub(columns, column) });
      });
    },
  }),
);

interface Tile {
  readonly pointer: Value;
  readonly target: Value;
  readonly count: Value;
  readonly stride: Value;
  /** Columns that are left, perhaps more than belong to the tile. */
  readonly width: Value;
}

function foldTile(k: FunctionBuilder, folding: Folding, { pointer, target, count, stride, width }: Tile): void {
  const foldColumns = (column: Value | 0, how: Pick<Steps, 'width' | 'across' | 'ways'>): void => {
    const totals = foldSteps(k, folding, { pointer: k.at(pointer, column), count, stride, ...how });
    totals.forEach((total, index) => {
      const place = k.at(k.at(target, column), index * how.width);
      if (how.width === 1) k.store(place, folding.finish(total));
      else k.storeVector(place, folding.finish(total));
    });
  };
  k.ifElse(
    k.uge(width, COLUMNS_RUN_TILE),
    () => foldColumns(0, { width: WIDTH, across: ACROSS, ways: 1 }),
    () => {
      const whole = k.and(width, -WIDTH);
      k.forLoop({ to: whole, step: WIDTH }, [], (column) => foldColumns(column, { width: WIDTH, ways: 8 }));
      k.forLoop({ from: whole, to: width }, [], (column) => foldColumns(column, { width: 1, ways: 8 }));
    },
  );
}
