import type { Level, NumberType, ValueType } from './value-types.ts';

/** A value of the kernel that is being defined. It stands for a number of every point, row or call; it holds none. */
export interface Value<Type extends ValueType = ValueType> {
  readonly type: Type;
  readonly level: Level;
}

/** A declared gather input, for `k.gather`. */
export interface GatherInput<Type extends NumberType = NumberType> {
  readonly gathered: Type;
  readonly rank: number;
}

/** A value and the place that it is stored at, which `k.scatter` gives: an output and nothing else. */
export interface Scattered<Type extends NumberType = NumberType> {
  readonly scattered: Type;
  readonly level: Level;
}

/** A value, or a plain number (boolean) that takes the type of the operand beside it. */
export type Operand<Type extends ValueType> = Value<Type> | (Type extends 'bool' ? boolean : number);
