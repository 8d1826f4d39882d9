import type { NamesIn } from '@concord/variants';
import { Arguments, type ArgumentValues } from '../common/arguments.ts';

/** Depth of the panels that are multiplied at a time: those of a tile of A then fit the second level of cache. */
export const BLOCK_DEPTH = 256;

const OF_C = 'a c m n k rowStrideA depthStrideA strideA periodA rowStrideC strideC alpha beta';
const OF_PLAN = 'tileM tileN tilesM tilesN packed packedStride firstBatch sumsAt panelsAt';
const OF_B = 'b strideB columnStrideB depthStrideB';
const OF_WINDOW = 'outputWidth rowStep columnStep filterHeight filterWidth nextColumn nextRow nextPlane';
const OF_PLANES = 'planeBatches firstPlane';

/** The arguments that a plan sets: the tiles of C, and addresses. */
export type PlannedArgument = NamesIn<typeof OF_PLAN>;
export type ProductArgument = NamesIn<typeof OF_C> | PlannedArgument | NamesIn<typeof OF_B>;
export type WindowArgument = NamesIn<typeof OF_WINDOW> | NamesIn<typeof OF_PLANES>;

/**
 * The arguments that all codes of a product read: `batches` matrices C = alpha A B + beta C of m x n over a depth of k. Strides count
 * elements; A's repeat after `periodA` batches. C is cut into tiles of `tileM` x `tileN`, `tilesM` x `tilesN` of them. B is
 * packed beforehand, at `packed`, or where that is 0 by each tile for itself, at `panelsAt` of the thread's own memory, which
 * holds the panels of A at 0 and the sums at `sumsAt`. A command computes the batches from `firstBatch` on, whose packed B are
 * `packedStride` elements apart. The last arguments are for the packer of B, and for an epilogue: `planeBatches` batches are the rows of
 * one plane of it, of which the first is `firstPlane`.
 */
export const PRODUCT: Arguments<ProductArgument, WindowArgument> = new Arguments(
  [OF_C, OF_PLAN, OF_B],
  [OF_WINDOW, OF_PLANES],
);

/** The arguments of {@link PRODUCT}. */
export type ProductArguments = ArgumentValues<ProductArgument, WindowArgument>;

/** The arguments that the caller sets. */
export type GivenArguments = Omit<ProductArguments, PlannedArgument>;

/** The arguments in the order of {@link PRODUCT}, written out: a loop over names takes longer than a small product. */
export function productArguments(given: GivenArguments, plan: Pick<ProductArguments, PlannedArgument>): number[] {
  return [
    given.a,
    given.c,
    given.m,
    given.n,
    given.k,
    given.rowStrideA,
    given.depthStrideA,
    given.strideA,
    given.periodA,
    given.rowStrideC,
    given.strideC,
    given.alpha,
    given.beta,
    plan.tileM,
    plan.tileN,
    plan.tilesM,
    plan.tilesN,
    plan.packed,
    plan.packedStride,
    plan.firstBatch,
    plan.sumsAt,
    plan.panelsAt,
    given.b,
    given.strideB,
    given.columnStrideB,
    given.depthStrideB,
    given.outputWidth ?? 0,
    given.rowStep ?? 0,
    given.columnStep ?? 0,
    given.filterHeight ?? 0,
    given.filterWidth ?? 0,
    given.nextColumn ?? 0,
    given.nextRow ?? 0,
    given.nextPlane ?? 0,
    given.planeBatches ?? 0,
    given.firstPlane ?? 0,
  ];
}
