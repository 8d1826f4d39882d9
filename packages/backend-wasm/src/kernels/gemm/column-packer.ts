import type { FloatDType } from '@concord/backend-core';
import {
  callStatement,
  i32,
  type Local,
  type ModuleBuilder,
  type Operand,
  type Statement,
  type Value,
} from '../../encoder/index.ts';
import { STORAGE_SHIFT } from '../common/float-storage.ts';
import { TILE_COLUMNS } from './micro-kernel.ts';
import { packPanels } from './pack-panels.ts';
import { PRODUCT, type ProductWord } from './product-words.ts';

/** A block of B: `columns` from `column` on, over `depth` places from `first` on. */
export interface ColumnBlock {
  readonly to: Operand<'i32'>;
  readonly batch: Local<'i32'>;
  readonly column: Local<'i32'>;
  readonly columns: Local<'i32'>;
  readonly first: Local<'i32'>;
  readonly depth: Local<'i32'>;
}

/**
 * Adds the code that packs blocks of B, as panels of 8 columns, to a module. Gives the statement that packs one, by the words
 * at `args`.
 */
export type ColumnPacker = (module: ModuleBuilder) => (args: Local<'i32'>, block: ColumnBlock) => Statement;

/** B as a matrix in memory. */
export function matrixColumns(dtype: FloatDType): ColumnPacker {
  const shift = STORAGE_SHIFT[dtype];
  return (module) => {
    const pack = packPanels(module, TILE_COLUMNS, dtype);
    return (args, { to, batch, column, columns, first, depth }) => {
      const word = (name: ProductWord): Value<'i32'> => PRODUCT.word(args, name);
      const elements = i32.add(
        i32.mul(batch, word('strideB')),
        i32.add(i32.mul(column, word('columnStrideB')), i32.mul(first, word('depthStrideB'))),
      );
      const from = i32.add(word('b'), i32.shl(elements, shift));
      const strides = [i32.shl(word('columnStrideB'), shift), i32.shl(word('depthStrideB'), shift)] as const;
      return callStatement(pack, to, from, ...strides, columns, depth);
    };
  };
}
