import { Arguments, type Words } from '../common/arguments.ts';

/** Depth of the panels that are multiplied at a time: those of a tile of A then fit the second level of cache. */
export const BLOCK_DEPTH = 256;

export type ProductWord =
  | 'a'
  | 'c'
  | 'm'
  | 'n'
  | 'k'
  | 'rowStrideA'
  | 'depthStrideA'
  | 'strideA'
  | 'periodA'
  | 'rowStrideC'
  | 'strideC'
  | 'alpha'
  | 'beta'
  | 'tileM'
  | 'tileN'
  | 'tilesM'
  | 'tilesN'
  | 'packed'
  | 'packedStride'
  | 'firstBatch'
  | 'sumsAt'
  | 'panelsAt'
  | 'b'
  | 'strideB'
  | 'columnStrideB'
  | 'depthStrideB';
export type WindowWord =
  | 'outputWidth'
  | 'rowStep'
  | 'columnStep'
  | 'filterHeight'
  | 'filterWidth'
  | 'nextColumn'
  | 'nextRow'
  | 'nextPlane'
  | 'planeBatches'
  | 'firstPlane';

/**
 * What all codes of a product read: `batches` matrices C = alpha A B + beta C of m x n over a depth of k. Strides count
 * elements; A's repeat after `periodA` batches. C is cut into tiles of `tileM` x `tileN`, `tilesM` x `tilesN` of them. B is
 * packed beforehand, at `packed`, or where that is 0 by each tile for itself, at `panelsAt` of the thread's own memory, which
 * holds the panels of A at 0 and the sums at `sumsAt`. A command computes the batches from `firstBatch` on, whose packed B are
 * `packedStride` elements apart. The last words are for whoever packs B, and for an epilogue: `planeBatches` batches are the rows of
 * one plane of it, of which the first is `firstPlane`.
 */
export const PRODUCT: Arguments<ProductWord, WindowWord> = new Arguments(
  [
    'a',
    'c',
    'm',
    'n',
    'k',
    'rowStrideA',
    'depthStrideA',
    'strideA',
    'periodA',
    'rowStrideC',
    'strideC',
    'alpha',
    'beta',
    'tileM',
    'tileN',
    'tilesM',
    'tilesN',
    'packed',
    'packedStride',
    'firstBatch',
    'sumsAt',
    'panelsAt',
    'b',
    'strideB',
    'columnStrideB',
    'depthStrideB',
  ],
  [
    'outputWidth',
    'rowStep',
    'columnStep',
    'filterHeight',
    'filterWidth',
    'nextColumn',
    'nextRow',
    'nextPlane',
    'planeBatches',
    'firstPlane',
  ],
);

/** The words of {@link PRODUCT}. */
export type ProductWords = Words<ProductWord, WindowWord>;
