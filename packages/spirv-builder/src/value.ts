import type { Type, ValueId } from './type.ts';

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
  /** The region that defines it; undefined for constants and module-scope variables. */
  readonly region: Region | undefined;
  /** Set for integer constants only. */
  readonly integer?: ConstantInteger;
}

/** The value of an integer constant, as far as it is known while the module is written. */
export interface ConstantInteger {
  /** The bits as unsigned; for a specialisation constant, the default. */
  readonly value: bigint | undefined;
  readonly isSpecialised: boolean;
}

/** A value, or a literal that becomes a constant of the type that the other operand has. */
export type Operand = Value | number | bigint | boolean;

/** Names for messages what was given instead of a value: `number 1`, `undefined`, `array`. */
export function nameOfOther(given: unknown): string {
  if (Array.isArray(given)) return 'array';
  switch (typeof given) {
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'string':
      return `${typeof given} ${given}`;
    default:
      return given === null ? 'null' : typeof given;
  }
}
