import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { groupIndex } from '../grid.ts';
import { defineKernel, type Kernel, variants } from '../kernel.ts';
import { type Fold, type Folding, foldingOf } from './fold.spv.ts';
import { partOf, partParameters } from './parts.spv.ts';
import { foldComponents, foldSteps } from './steps.spv.ts';

const WIDTH = 16;
/** Vectors at once: more of those that take several steps to fold. */
const WAYS: Readonly<Record<Fold, number>> = { sum: 4, max: 8, min: 8 };

/** Columns that a vector holds whole rows of. */
export type PackedColumns = 1 | 2 | 4 | 8;
/** Every {@link PackedColumns}. */
export const PACKED_COLUMNS: readonly PackedColumns[] = [1, 2, 4, 8];

/**
 * Reduces rows of contiguous elements, or along the axis before 2, 4 or 8 contiguous columns, for CPUs. A work-item
 * takes `run` neighbouring parts (see `partParameters`, with inner `columns`; `items` is outer times parts), each by
 * several vectors of 16 at a time, then by single vectors and single rows. 64 sums side by side: of 16,384 elements the
 * longest chain has 280 additions.
 *
 * The parts of a long axis are summed by another launch, so that it is summed in blocks of blocks (N. J. Higham, "The
 * accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993: pairwise summation, with larger leaves).
 */
export const rowsRun: (params: { fold: Fold; columns: PackedColumns }) => Kernel = variants(({ fold, columns }) =>
  defineKernel<string>({
    name: `reduce/rows-run ${fold} of ${columns}`,
    parameters: { ...partParameters(fold), run: 'u64' },
    groupSize: [1, 1, 1],
    write: (k, { args }) => {
      const { input, output, items, run } = args as Readonly<Record<'input' | 'output' | 'items' | 'run', Value>>;
      const folding = foldingOf(k, fold, args);
      const from = k.mul(groupIndex(k), run);
      const to = k.math('u_min', k.add(from, run), items);
      k.forLoop({ from, to }, [], (item) => {
        const { first, count } = partOf(k, args, item);
        const row = { pointer: k.at(input, k.mul(first, columns)), count: k.mul(count, columns), columns };
        const total = folding.finish(foldRow(k, folding, row, WAYS[fold]));
        const place = k.at(output, k.mul(item, columns));
        if (columns === 1) k.store(place, total);
        else k.storeVector(place, total);
      });
    },
  }),
);

interface Row {
  readonly pointer: Value;
  /** Elements, of all columns together. */
  readonly count: Value;
  readonly columns: PackedColumns;
}

function foldRow(k: FunctionBuilder, folding: Folding, { pointer, count, columns }: Row, ways: number): Value {
  const f32 = k.types.float(32);
  const step = (elements: number): Value => k.constant(count.type, elements);
  const vectors = k.lshr(count, Math.log2(WIDTH));
  const done = k.mul(vectors, WIDTH);
  // Short rows go without what joins the components.
  const [long] = k.ifElse(
    k.ne(vectors, 0),
    () => {
      const steps = { pointer, count: vectors, stride: step(WIDTH), width: WIDTH, ways } as const;
      return [foldComponents(k, folding, foldSteps(k, folding, steps)[0] as Value, columns)];
    },
    () => [folding.nothing(columns === 1 ? f32 : k.types.vector(f32, columns))],
  );
  const rest = k.lshr(k.sub(count, done), Math.log2(columns));
  const [short] = foldSteps(k, folding, {
    pointer: k.at(pointer, done),
    count: rest,
    stride: step(columns),
    width: columns,
    ways: 1,
  });
  return folding.join(long as Value, short as Value);
}
