/** Types of values on WebAssembly's stack and in its locals. */
export type ValueType = 'i32' | 'f32' | 'v128';

/** Encoded instructions: bytes, and pieces encoded before. */
export type Code = readonly (number | Code)[];

/**
 * An expression: instructions that leave one value on the stack. It is data without a place: it reads its operands where it is put
 * into a body, and an expression put twice is computed twice. `FunctionBody.let` computes it once.
 */
export interface Value<T extends ValueType = ValueType> {
  readonly type: T;
  readonly code: Code;
}

/** A local variable of a function; as an expression its value. */
export interface Local<T extends ValueType = ValueType> extends Value<T> {
  readonly index: number;
}

/** Instructions that leave nothing on the stack. */
export interface Statement {
  readonly type: 'none';
  readonly code: Code;
}

/** An operand of an instruction: a value, or a number for a constant. */
export type Operand<T extends ValueType> = Value<T> | (T extends 'i32' | 'f32' ? number : never);

/** Bytes of the types in function signatures and lists of locals. */
export const TYPE_BYTE: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  f32: 0x7d,
  v128: 0x7b,
};
