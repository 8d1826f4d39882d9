import { Arguments, type Words } from '../common/arguments.ts';

export type VectorWord =
  | 'matrix'
  | 'x'
  | 'to'
  | 'count'
  | 'depth'
  | 'countStride'
  | 'depthStride'
  | 'matrixStride'
  | 'xStride'
  | 'xBatchStride'
  | 'toStride'
  | 'toBatchStride'
  | 'alpha'
  | 'beta'
  | 'tile'
  | 'tiles'
  | 'isRow';
/** The words of {@link VECTOR}. */
export type VectorWords = Words<VectorWord, never>;

/**
 * The words that {@link vectorCode} reads: `to = alpha M x + beta to` for `count` outputs over a depth, for each batch. Strides
 * count elements; one of `countStride` and `depthStride`, which are M's, is 1. A tile is `tile` outputs of one batch.
 * For an epilogue `isRow` is 1 where the outputs are a row of C, 0 for a column.
 */
export const VECTOR: Arguments<VectorWord> = new Arguments([
  'matrix',
  'x',
  'to',
  'count',
  'depth',
  'countStride',
  'depthStride',
  'matrixStride',
  'xStride',
  'xBatchStride',
  'toStride',
  'toBatchStride',
  'alpha',
  'beta',
  'tile',
  'tiles',
  'isRow',
]);

/** The words that the caller sets. */
export type GivenVectorWords = Omit<VectorWords, 'tile' | 'tiles'>;

/** The words in the order of {@link VECTOR}, written out: a loop over names takes longer than a small product. */
export function vectorWords(given: GivenVectorWords, plan: Pick<VectorWords, 'tile' | 'tiles'>): number[] {
  return [
    given.matrix,
    given.x,
    given.to,
    given.count,
    given.depth,
    given.countStride,
    given.depthStride,
    given.matrixStride,
    given.xStride,
    given.xBatchStride,
    given.toStride,
    given.toBatchStride,
    given.alpha,
    given.beta,
    plan.tile,
    plan.tiles,
    given.isRow,
  ];
}
