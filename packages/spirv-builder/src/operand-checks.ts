import { scalarWords } from './constant-table.ts';
import type { FunctionBody } from './function-body.ts';
import {
  componentOf,
  isVectorCount,
  nameOf,
  type PointerType,
  type Type,
  type VectorCount,
  type VectorType,
} from './type.ts';
import type { Operand, Value } from './value.ts';
import type { Op } from './generated/spirv.ts';

// What instructions ask of their operands, beside what every instruction does (`FunctionBody.use` and `operand`).

/** Two operands of one type, of which at most one is a literal. */
export function pair(body: FunctionBody, a: Operand, b: Operand, instruction: string): [Value, Value] {
  const type = typeOf(a) ?? typeOf(b);
  if (type === undefined) throw body.error(instruction, 'one operand at least must be a value, not a literal');
  return [body.operand(a, type, instruction, 'operand 1'), body.operand(b, type, instruction, 'operand 2')];
}

/** Refuses a value whose components are not of one of these kinds. */
export function expectKind(
  body: FunctionBody,
  value: Value,
  kinds: readonly Type['kind'][],
  instruction: string,
): void {
  if (!kinds.includes(componentOf(value.type).kind)) {
    throw body.error(instruction, `takes ${kinds.join(' or ')} operands, got ${nameOf(value.type)}`);
  }
}

/** Refuses a type of another module, or none. */
export function expectType(body: FunctionBody, type: Type, instruction: string): void {
  body.placed(instruction, 'the type ', () => body.types.expect(type, instruction));
}

/** The type of a pointer; refuses other values. */
export function pointerType(body: FunctionBody, value: Value, instruction: string): PointerType {
  const { type } = body.use(value, instruction, 'pointer');
  if (type.kind !== 'pointer') throw body.error(instruction, `takes a pointer, got ${nameOf(type)}`);
  return type;
}

/** The type of a vector; refuses other values. */
export function vectorType(body: FunctionBody, value: Value, instruction: string, operand: string): VectorType {
  const { type } = body.use(value, instruction, operand);
  if (type.kind !== 'vector') throw body.error(instruction, `takes a vector, got ${nameOf(type)}`);
  return type;
}

/** Refuses a count of components that no vector has. */
export function vectorCount(body: FunctionBody, count: number, instruction: string): VectorCount {
  if (isVectorCount(count)) return count as VectorCount;
  throw body.error(instruction, `there are no vectors of ${count} components (2, 3, 4, 8, 16)`);
}

/** bool, or as many of them as a vector has components. */
export function boolLike(body: FunctionBody, type: Type): Type {
  const bool = body.types.bool();
  return type.kind === 'vector' ? body.types.vector(bool, type.count) : bool;
}

/** The words of a literal integer, which is no constant of the module. */
export function literalWords(
  body: FunctionBody,
  type: Type,
  value: number | bigint,
  instruction: string,
  name: string,
): number[] {
  return body.placed(instruction, name, () => scalarWords(type, value));
}

function typeOf(operand: Operand): Type | undefined {
  return typeof operand === 'object' && operand !== null ? operand.type : undefined;
}

type Kind = 'int' | 'float' | 'bool';

/** The opcode of an operation for each kind of component that it takes. */
export type Opcodes = Readonly<Partial<Record<Kind, Op>>>;

/** Makes something of each row of a table, by name. */
export function mapRows<Name extends string, Row, T>(
  table: Readonly<Record<Name, Row>>,
  make: (name: Name, row: Row) => T,
): Record<Name, T> {
  const made = Object.entries<Row>(table).map(([name, row]) => [name, make(name as Name, row)]);
  return Object.fromEntries(made) as Record<Name, T>;
}

/** The opcode for a value's components; refuses what the operation does not take. */
export function opcodeFor(body: FunctionBody, value: Value, opcodes: Opcodes, name: string): Op {
  expectKind(body, value, Object.keys(opcodes) as Kind[], name);
  return opcodes[componentOf(value.type).kind as Kind] as Op;
}

/** Operations of two operands of one type, which is that of the result too. */
export function binaryOps<Name extends string>(
  body: FunctionBody,
  table: Readonly<Record<Name, Opcodes>>,
): Record<Name, (a: Operand, b: Operand) => Value> {
  return mapRows(table, (name, opcodes: Opcodes) => (a, b) => {
    const [x, y] = pair(body, a, b, name);
    return body.emit(opcodeFor(body, x, opcodes, name), x.type, x.id, y.id);
  });
}
