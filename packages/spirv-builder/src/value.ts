import type { ValueId } from './ids.ts';
import type { Type } from './type.ts';

/** A stretch of a function whose values can be used while it is open: its body, or a branch or loop in it. */
export interface Region {
  readonly owner: object;
  isOpen: boolean;
}

/** A constant, a parameter, or the result of an instruction. Belongs to one module, and unless constant to one function. */
export interface Value {
  readonly id: ValueId;
  readonly type: Type;
  /** The module that made it. */
  readonly module: object;
  /** Where it is defined; undefined for constants and module-scope variables. */
  readonly region: Region | undefined;
}

/** A value, or a literal that becomes a constant of the type that the other operand has. */
export type Operand = Value | number | bigint | boolean;
