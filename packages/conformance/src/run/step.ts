import type { FoldOp, Level, NodeOp, ValueType } from '@concord/backend-core/kernel';
import type { Range } from './ranges.ts';

/** `float`: functions with roundings; `exact`: integers, bits, truths and whole float32 numbers, judged to the bit. */
export type GraphStyle = 'float' | 'exact';

/** One value of a drawn graph; operands are numbers of earlier steps. */
export interface Step {
  readonly kind:
    | 'constant'
    | 'parameter'
    | 'input'
    | 'index'
    | 'rowIndex'
    | 'extent'
    | 'arithmetic'
    | 'fold'
    | 'gather';
  readonly type: ValueType;
  readonly level: Level;
  readonly operands: readonly number[];
  readonly op?: NodeOp | FoldOp;
  readonly name?: string;
  /** A constant, or an axis, which is taken modulo the number of axes. */
  readonly value?: number;
  /** Of a float32. */
  readonly range: Range;
  /** True if its value has no rounding error. */
  readonly isExact: boolean;
}
