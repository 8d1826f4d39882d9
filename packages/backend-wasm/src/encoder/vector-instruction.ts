import {
  type Binary,
  binary,
  codeOf,
  type Operand,
  type Statement,
  type Unary,
  unary,
  unsigned,
  type Value,
  type ValueType,
} from './instruction.ts';

/** A vector from three. */
export type Ternary = (a: Value<'v128'>, b: Value<'v128'>, c: Value<'v128'>) => Value<'v128'>;
/** Components shifted by one number of bits, modulo their width. */
export type Shift = (a: Value<'v128'>, bits: Operand<'i32'>) => Value<'v128'>;
/** One component. */
export type ExtractLane<T extends ValueType> = (a: Value<'v128'>, lane: number) => Value<T>;
/** The vector with one component replaced. */
export type ReplaceLane<T extends ValueType> = (a: Value<'v128'>, lane: number, value: Operand<T>) => Value<'v128'>;
/** The vector with one component read from memory. */
export type LoadLane = (address: Operand<'i32'>, vector: Value<'v128'>, lane: number, offset?: number) => Value<'v128'>;
/** Writes one component to memory. */
export type StoreLane = (address: Operand<'i32'>, vector: Value<'v128'>, lane: number, offset?: number) => Statement;

/** The bytes of a SIMD instruction. */
export const simd = (opcode: number): number[] => [0xfd, ...unsigned(opcode)];

export const vectorUnary = (opcode: number): Unary<'v128', 'v128'> => unary('v128', 'v128', ...simd(opcode));
export const vectorBinary = (opcode: number): Binary<'v128', 'v128'> => binary('v128', 'v128', ...simd(opcode));
export const vectorTest = (opcode: number): Unary<'v128', 'i32'> => unary('v128', 'i32', ...simd(opcode));
export const splat = <T extends ValueType>(from: T, opcode: number): Unary<T, 'v128'> =>
  unary(from, 'v128', ...simd(opcode));

export function vectorTernary(opcode: number): Ternary {
  return (a, b, c) => ({ type: 'v128', code: [a.code, b.code, c.code, ...simd(opcode)] });
}

export function vectorShift(opcode: number): Shift {
  return (a, bits) => ({ type: 'v128', code: [a.code, codeOf('i32', bits), ...simd(opcode)] });
}

export function extractLane<T extends ValueType>(to: T, opcode: number): ExtractLane<T> {
  return (a, lane) => ({ type: to, code: [a.code, ...simd(opcode), lane] });
}

export function replaceLane<T extends ValueType>(from: T, opcode: number): ReplaceLane<T> {
  return (a, lane, value) => ({ type: 'v128', code: [a.code, codeOf(from, value), ...simd(opcode), lane] });
}

export function loadLane(opcode: number): LoadLane {
  return (address, vector, lane, offset = 0) => ({
    type: 'v128',
    code: [codeOf('i32', address), vector.code, ...simd(opcode), 0, ...unsigned(offset), lane],
  });
}

export function storeLane(opcode: number): StoreLane {
  return (address, vector, lane, offset = 0) => ({
    type: 'none',
    code: [codeOf('i32', address), vector.code, ...simd(opcode), 0, ...unsigned(offset), lane],
  });
}
