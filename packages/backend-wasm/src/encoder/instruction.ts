import { littleEndian, signed, unsigned } from './numbers.ts';
import type { Code, Operand, Statement, Value, ValueType } from './value.ts';

/** An instruction from one operand. */
export type Unary<A extends ValueType, R extends ValueType> = (a: Operand<A>) => Value<R>;
/** An instruction from two operands of one type. */
export type Binary<A extends ValueType, R extends ValueType> = (a: Operand<A>, b: Operand<A>) => Value<R>;
/** Reads memory at `address + offset`, both unsigned; no alignment is assumed. */
export type Load<R extends ValueType> = (address: Operand<'i32'>, offset?: number) => Value<R>;
/** Writes memory at `address + offset`, both unsigned; no alignment is assumed. */
export type Store<A extends ValueType> = (address: Operand<'i32'>, value: Operand<A>, offset?: number) => Statement;

/** Instructions of one form by their names. */
export type Named<Opcodes, Form> = { readonly [Name in keyof Opcodes]: Form };

/** Instructions of one form from their opcodes. */
export function named<Opcodes extends Readonly<Record<string, number>>, Form>(
  opcodes: Opcodes,
  form: (opcode: number) => Form,
): Named<Opcodes, Form> {
  return Object.fromEntries(Object.entries(opcodes).map(([name, opcode]) => [name, form(opcode)])) as Named<
    Opcodes,
    Form
  >;
}

/** The code of an operand; a number is a constant of the type. */
export function codeOf<T extends ValueType>(type: T, operand: Operand<T>): Code {
  if (typeof operand !== 'number') return operand.code;
  if (type === 'f32') return [0x43, ...littleEndian('f32', operand)];
  return [0x41, ...signed(operand | 0)];
}

export function unary<A extends ValueType, R extends ValueType>(from: A, to: R, ...opcode: number[]): Unary<A, R> {
  return (a) => ({ type: to, code: [codeOf(from, a), ...opcode] });
}

export function binary<A extends ValueType, R extends ValueType>(from: A, to: R, ...opcode: number[]): Binary<A, R> {
  return (a, b) => ({ type: to, code: [codeOf(from, a), codeOf(from, b), ...opcode] });
}

export function load<R extends ValueType>(to: R, ...opcode: number[]): Load<R> {
  return (address, offset = 0) => ({ type: to, code: [codeOf('i32', address), ...opcode, 0, ...unsigned(offset)] });
}

export function store<A extends ValueType>(from: A, ...opcode: number[]): Store<A> {
  return (address, value, offset = 0) => ({
    type: 'none',
    code: [codeOf('i32', address), codeOf(from, value), ...opcode, 0, ...unsigned(offset)],
  });
}
