/** An unsigned number in LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}

/** A signed number of 32 bits in LEB128. */
export function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const byte = rest & 0x7f;
    rest >>= 7;
    if ((rest === 0 && byte < 0x40) || (rest === -1 && byte >= 0x40)) return [...bytes, byte];
    bytes.push(byte | 0x80);
  }
}

/** A number of 32 bits as it lies in memory. */
export function littleEndian(type: 'i32' | 'f32', value: number): number[] {
  const view = new DataView(new ArrayBuffer(4));
  if (type === 'f32') view.setFloat32(0, value, true);
  else view.setInt32(0, value, true);
  return [...new Uint8Array(view.buffer)];
}

/** A name: its length and its bytes. */
export function nameBytes(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  return [...unsigned(bytes.length), ...bytes];
}

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

type Word = Operand<'i32'>;

/** Instructions on shared memory. */
export const atomic = {
  /** Stores `next`, 1, 2 or 4 bytes, where `expected` is; returns what was there. */
  compareExchange: (bytes: number, address: Word, expected: Word, next: Word): Value<'i32'> => {
    const [opcode, alignment] = bytes === 4 ? [0x48, 2] : bytes === 2 ? [0x4b, 1] : [0x4a, 0];
    const operands = [address, expected, next].map((operand) => codeOf('i32', operand));
    return { type: 'i32', code: [...operands, 0xfe, opcode, alignment, 0] };
  },
};

/** Instructions on ranges of memory. */
export const memory = {
  /** Copies bytes; the ranges may overlap. */
  copy: (to: Word, from: Word, bytes: Word): Statement => ({
    type: 'none',
    code: [codeOf('i32', to), codeOf('i32', from), codeOf('i32', bytes), 0xfc, 0x0a, 0, 0],
  }),
  fill: (to: Word, byte: Word, bytes: Word): Statement => ({
    type: 'none',
    code: [codeOf('i32', to), codeOf('i32', byte), codeOf('i32', bytes), 0xfc, 0x0b, 0],
  }),
};
